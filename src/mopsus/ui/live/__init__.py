"""A debugging session as it goes on: the automaton with its current states, slices, events, checkpoints, the source.

It runs in a process of its own (`python -m mopsus.ui.live`), which the debugger starts and tells: see
`mopsus.interactive.live`.
"""
