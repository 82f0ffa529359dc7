"""The children are found first."""

import xml.etree.ElementTree as ET

root = ET.fromstring("<a><b/><b/><c/></a>")
for child in root.findall("b"):
    root.remove(child)
for child in root:
    child.set("seen", "1")
