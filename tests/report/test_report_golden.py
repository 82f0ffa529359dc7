"""Each format's report of the sample run, character by character.

`UPDATE_GOLDEN=1 pytest tests/report/test_report_golden.py` writes the files anew; read the difference.
"""

import os
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "report"
FILES = {
    "terminal": "report.txt",
    "json": "report.json",
    "junit": "junit.xml",
    "sarif": "report.sarif",
    "html": "report.html",
}


@pytest.mark.parametrize(("name", "file"), FILES.items())
def test_report_is_as_recorded(sample, name, file):
    text = sample.report(name)
    path = GOLDEN / file
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, "utf-8", newline="\n")
    assert text == path.read_text("utf-8")
