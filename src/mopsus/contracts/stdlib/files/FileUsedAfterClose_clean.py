"""All is written before the end."""

import io
import os

with open(os.devnull, "w") as file:
    file.write("one\n")
    file.write("two\n")
text = io.StringIO()
text.write("one")
text.getvalue()
text.close()
text.close()
