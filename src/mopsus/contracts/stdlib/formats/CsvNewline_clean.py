"""The module csv decides about line ends."""

import csv
import tempfile

with tempfile.NamedTemporaryFile() as place, open(place.name, "w", newline="") as file:
    csv.writer(file).writerow(["a\nb", "c"])
