"""The archive is still open when the program ends."""

import io
import zipfile

archive = zipfile.ZipFile(io.BytesIO(), "w")
archive.writestr("a.txt", "a")  # violation
