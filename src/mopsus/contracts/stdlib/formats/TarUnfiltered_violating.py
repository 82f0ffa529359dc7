"""An archive from anywhere may write anywhere."""

import io
import tarfile
import tempfile
import warnings

warnings.simplefilter("ignore")
data = io.BytesIO()
with tarfile.open(fileobj=data, mode="w"):
    pass
data.seek(0)
with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=data) as archive:
    archive.extractall(folder)  # violation
