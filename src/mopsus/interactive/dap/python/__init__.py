"""The debug adapter's side in the process of a Python program."""
