"""The benchmarks run, at a size that says nothing about speed, and the page shows what was measured."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = re.findall(
    r'"(\w+)"', (ROOT / "bench" / "run.py").read_text().partition("BENCHMARKS = (")[2].partition(")")[0]
)
PEERS = {"peers": ("reelay", "_nfer"), "mtl": ("reelay", "rtamt"), "programs": ("pyperf",)}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_runs_and_stores_its_rows(name, tmp_path):
    if not all(map(importlib.util.find_spec, PEERS.get(name, ()))):
        pytest.skip("the other tools are not installed: make bench does that")
    output = tmp_path / "results.json"
    command = [sys.executable, "bench/run.py", "--only", name, "--scale", "0.001", "--output", str(output)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(output.read_text(encoding="utf-8")).values()
    assert result["scale"] == 0.001
    assert result["environment"]["python"]
    assert result["environment"]["cpu"]
    assert result["rows"]
    for row in result["rows"]:
        assert row["case"] in done.stdout
        assert isinstance(row["ours"], float)
        assert (row["ratio"] is None) == (row["theirs"] is None) == (row["base"] is None)
        assert (row["met"] is None) == (row["goal"] is None)


def test_the_page_has_a_section_for_every_benchmark_and_shows_what_is_stored():
    results = json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))
    assert list(results) == list(BENCHMARKS)
    assert {result["scale"] for result in results.values()} == {1.0}
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert all(f"<!-- results: {name} -->" in page for name in BENCHMARKS)
    done = subprocess.run([sys.executable, "bench/table.py", "--check"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
