"""Debugging from an editor: the Debug Adapter Protocol, in front of the debuggers that monitors drive.

`front` speaks with the editor and starts a debugger; `server` answers in the debugger's process, by what a `Workbench`
finds there. Between the two is an `EditorLine`.
"""
