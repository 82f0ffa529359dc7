"""Scenarios: what to do when a monitor enters or leaves a state."""
