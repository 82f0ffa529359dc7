"""A directory that stays for ever; its name is kept by nobody."""

import os
import tempfile

with open(os.path.join(tempfile.mkdtemp(), "notes"), "w") as file:  # violation
    file.write("gone?")
