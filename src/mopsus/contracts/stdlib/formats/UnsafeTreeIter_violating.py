"""The element after one that was removed is left out."""

import xml.etree.ElementTree as ET

root = ET.fromstring("<a><b/><b/><c/></a>")
for child in root:  # violation
    if child.tag == "b":
        root.remove(child)
