"""The corpora without a fuzzer: nothing that was found once, and nothing else that is kept, is a finding now."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
TARGETS = sorted(path.stem for path in (HERE / "targets").glob("*.py"))
NATIVE = sorted(path.stem for path in (HERE.parents[1] / "cpp" / "fuzz").glob("*.cpp"))
MOST_FILES, MOST_BYTES, MOST_IN_ALL = 40, 2048, 300_000


@pytest.mark.parametrize("target", TARGETS)
def test_no_file_of_the_corpus_is_a_finding(target):
    one = importlib.import_module(f"fuzz.targets.{target}").one
    one(b"")
    files = sorted((CORPUS / target).iterdir())
    assert files
    for file in files:
        try:
            one(file.read_bytes())
        except Exception as error:
            error.add_note(f"see it again: tools/fuzz {target} {file.relative_to(HERE.parents[1])}")
            raise


def test_every_corpus_belongs_to_a_target_and_is_small():
    found = {folder.name: sorted(folder.iterdir()) for folder in CORPUS.iterdir()}
    assert found.keys() - {*TARGETS, *NATIVE} == set() or not NATIVE
    assert max(map(len, found.values())) <= MOST_FILES
    sizes = {file: file.stat().st_size for files in found.values() for file in files}
    assert max(sizes.values()) <= MOST_BYTES
    assert sum(sizes.values()) <= MOST_IN_ALL


def test_every_target_says_what_it_is_about():
    for target in TARGETS:
        assert importlib.import_module(f"fuzz.targets.{target}").__doc__, target
