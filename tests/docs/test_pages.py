"""The pages build, their examples print what they show, and generated pages are what the code says."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def run(*command):
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_print_what_the_page_shows(page):
    run(sys.executable, "tools/docs_examples.py", page)


def test_generated_pages_are_what_the_code_says():
    run(sys.executable, "tools/make_reference.py", "--check")


def test_the_picture_is_what_the_command_prints():
    run(sys.executable, "tools/make_picture.py", "--check")


def test_the_site_builds(tmp_path):
    # Not --quiet: that would also silence the warnings that --strict counts.
    run(Path(sys.executable).with_name("mkdocs"), "build", "--strict", "--site-dir", tmp_path)
