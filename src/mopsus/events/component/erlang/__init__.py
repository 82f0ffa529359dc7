"""Stage 4: the processes of an Erlang or Elixir system, observed through the tracing of their virtual machine."""
