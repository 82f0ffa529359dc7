"""What `make test` leaves to `make test-all` stands in CONTRIBUTING.md, so that no test disappears unseen."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
THIS = Path(__file__).resolve()


def is_mark(node, name):
    return isinstance(node, ast.Attribute) and node.attr == name and ast.unparse(node.value) == "pytest.mark"


def marked(name):
    """The tests of which all or some cases have this mark, as `file: test`; a mark elsewhere counts for its file."""
    found = set()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if path == THIS or f"mark.{name}" not in text:
            continue
        for statement in ast.parse(text).body:
            if any(is_mark(node, name) for node in ast.walk(statement)):
                test = f": {statement.name}" if isinstance(statement, ast.FunctionDef) else ""
                found.add(f"{path.relative_to(ROOT / 'tests')}{test}")
    return found


def test_what_only_test_all_runs_is_listed():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([\w/.]+\.py)` \| `(\w+)` \|", page, re.MULTILINE)
    assert {f"{file}: {test}" for file, test in listed} == marked("exhaustive")


def test_what_is_woven_or_debugged_in_python_runs_on_other_interpreters():
    places = ("events/test_weave_*.py", "interactive/python/test_*.py")
    files = {str(path.relative_to(ROOT / "tests")) for each in places for path in (ROOT / "tests").glob(each)}
    assert files
    assert files - marked("interpreter") == set()
