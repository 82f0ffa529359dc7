"""Two objects in one file."""

import io
import json

file = io.StringIO()
json.dump({"a": 1}, file)
json.dump({"b": 2}, file)  # violation
