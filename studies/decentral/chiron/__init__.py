"""The Chiron user interface: artists that register for events, a dispatcher that notifies them, and six specifications.

`traces` plays the program; `specs/` has a file for each specification, by the numbers of the thesis.
"""

from pathlib import Path

SPECS = Path(__file__).with_name("specs")
NAMES = ("1", "2", "3", "5", "15a", "15b")
