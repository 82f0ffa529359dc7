"""Line ends within a field are changed."""

import csv
import tempfile

with tempfile.NamedTemporaryFile() as place, open(place.name, "w") as file:
    csv.writer(file).writerow(["a\nb", "c"])  # violation
