"""The view is released first."""

import io

data = bytearray(b"abc")
with memoryview(data) as view:
    view[0] = 65
data.append(100)
buffer = io.BytesIO(b"abc")
with buffer.getbuffer() as part:
    part[0] = 65
buffer.close()
