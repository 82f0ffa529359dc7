"""Letters are not bytes."""

import tempfile

with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
    file.write("äpfel\n")
    file.seek(3)  # violation
