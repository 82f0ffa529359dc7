"""The words of the house mean what the glossary says, where it says so."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (?!word |---)(.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))


def test_each_word_has_one_entry():
    words = [word.split(",")[0] for word, _, _ in ROWS]
    assert len(words) >= 60
    assert sorted(words) == sorted(set(words))


def test_what_carries_a_word_exists():
    missing = []
    for _, _, carriers in ROWS:
        for place, name in re.findall(r"`([\w/.]+)(?:: (\w+))?`", carriers):
            path = ROOT / place if place.startswith("cpp/") else ROOT / "src" / "mopsus" / place
            if not path.exists() or (name and name not in _classes(path)):
                missing.append((place, name))
    assert missing == []


def _classes(path):
    return {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)}
