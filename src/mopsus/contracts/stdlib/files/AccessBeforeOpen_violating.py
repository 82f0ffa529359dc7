"""Between the question and the opening, somebody may put another file in its place."""

import os

if os.access(__file__, os.R_OK):
    with open(__file__) as file:  # violation
        file.read()
