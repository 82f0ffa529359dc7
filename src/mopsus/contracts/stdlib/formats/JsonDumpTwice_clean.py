"""A list of two objects; or a line for each, which is another format."""

import io
import json

file = io.StringIO()
json.dump([{"a": 1}, {"b": 2}], file)
lines = io.StringIO()
for item in ({"a": 1}, {"b": 2}):
    json.dump(item, lines)
    lines.write("\n")
