"""Watch components that run side by side: threads, tasks, processes, actors.

Properties of components are checked with `mopsus run`, `mopsus check` and `mopsus watch`, like any others.
"""

COMMANDS = ("record", "start", "attach", "detach", "listen", "erlang")
