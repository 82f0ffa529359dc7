"""A block closes the archive."""

import io
import zipfile

with zipfile.ZipFile(io.BytesIO(), "w") as archive:
    archive.writestr("a.txt", "a")
