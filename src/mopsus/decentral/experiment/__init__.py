"""Experiments: many runs of algorithms over specifications and traces, as one file describes them."""
