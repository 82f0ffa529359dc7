"""Children get the variable, the program itself does not."""

import os

os.putenv("LANGUAGE", "la")  # violation
assert "LANGUAGE" not in os.environ
