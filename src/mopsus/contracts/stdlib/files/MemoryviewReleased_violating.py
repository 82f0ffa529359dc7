"""The view is read after the end of its block."""

with memoryview(b"abc") as view:
    view.tobytes()
try:
    view.tobytes()  # violation
except ValueError:
    pass
