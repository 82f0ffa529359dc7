"""Everybody gets the variable."""

import os

os.environ["LANGUAGE"] = "la"
os.environ.update(LANGUAGE="en")
del os.environ["LANGUAGE"]
os.environ.pop("LANGUAGE", None)
