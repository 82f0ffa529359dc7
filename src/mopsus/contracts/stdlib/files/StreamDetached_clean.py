"""After the change, only the buffer is used."""

import io

text = io.TextIOWrapper(io.BytesIO())
text.write("one")
binary = text.detach()
binary.write(b"two")
