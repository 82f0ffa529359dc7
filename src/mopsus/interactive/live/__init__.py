"""The live view of a debugging session: what it shows, and the way there from the process of a debugger.

The page itself is in `mopsus.ui.live`, in a process of its own: neither GDB nor a program that is debugged could hold
it.
"""
