"""Only plain data, and only below the folder."""

import io
import tarfile
import tempfile

data = io.BytesIO()
with tarfile.open(fileobj=data, mode="w"):
    pass
data.seek(0)
with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=data) as archive:
    archive.extractall(folder, filter="data")
