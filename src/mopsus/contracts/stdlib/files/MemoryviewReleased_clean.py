"""What is needed later is copied."""

with memoryview(b"abc") as view:
    copy = view.tobytes()
copy.decode()
view.release()
