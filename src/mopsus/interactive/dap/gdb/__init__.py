"""Programs under GDB, for an editor: this runs inside GDB."""
