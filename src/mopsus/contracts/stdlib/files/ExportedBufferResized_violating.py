"""The view is still there when the buffer is to grow."""

data = bytearray(b"abc")
view = memoryview(data)
try:
    data.append(100)  # violation
except BufferError:
    pass
view.release()
