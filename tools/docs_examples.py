"""Run the examples of a Markdown page and compare what they print with what the page shows.

    python tools/docs_examples.py PAGE…            say where a page is wrong, status 1
    python tools/docs_examples.py --write PAGE…    put the real output into the pages

A page's examples run in order, in one folder and one Python namespace, so that a later one can build on an earlier:

    ```mop title="door.mop"      any block with a title is a file of that name
    ```console                   `$ command` lines are run, the lines after each are its output
    ```python                    is executed
    ```pycon                     is a Python session: `>>>` lines are executed, the lines after are their output

A shown line `...` stands for any lines, a rate of events may be there or not, and a duration, a time since the start
of a program (`t=0.25`) or an address may be another. Blocks of other languages are only shown; `py` is for Python that
is not to be run.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(?P<language>\w+)(?P<options>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
VARYING = re.compile(
    r" · [\d.,]+ (?:[kM] )?events/s| in \d+\.\d\ds$"  # rates and durations
    r"|\bt=\d+\.\d+ *|\b0x[0-9a-f]{8,}\b|\b\d{14,15}\b"  # times and addresses
    r"|^ {20,}",  # below a time, which may end in a zero that is not shown
    re.MULTILINE,
)
# The editable install of a checkout makes pytest warn; a reader's pytest has no reason to.
PYTEST_OPTIONS = "-p no:cacheprovider -W ignore::pytest.PytestAssertRewriteWarning"
TITLE = re.compile(r'title="([^"]+)"')


def run_page(text: str, folder: Path) -> str:
    """The page's text with the real output of its examples, run in `folder`."""
    namespace: dict[str, object] = {"__name__": "__docs__"}

    def replace(match: re.Match[str]) -> str:
        body = run_block(match["language"], match["options"], match["body"], folder, namespace)
        return f"```{match['language']}{match['options']}\n{body}```"

    return FENCE.sub(replace, text)


def run_block(language: str, options: str, body: str, folder: Path, namespace: dict[str, object]) -> str:
    """The block's body with its real output."""
    if title := TITLE.search(options):
        path = folder / title[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")
    elif language == "console":
        return "".join(f"$ {command}\n" + kept(shown, shell(command, folder)) for command, shown in commands(body))
    elif language == "python":
        with working_in(folder), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(body, "<docs>", "exec"), namespace)
    elif language == "pycon":
        return session(body, folder, namespace)
    return body


def commands(body: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with the output shown for it."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def shell(command: str, folder: Path) -> str:
    """What a command prints, on both streams together."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    environment |= {"PYTEST_ADDOPTS": PYTEST_OPTIONS}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


def session(body: str, folder: Path, namespace: dict[str, object]) -> str:
    """A Python session with its real output."""
    result = []
    for part in filter(None, re.split(r"^(?=>>> )", body, flags=re.MULTILINE)):
        lines = part.splitlines(keepends=True)
        written = next((at for at, line in enumerate(lines) if not line.startswith((">>>", "..."))), len(lines))
        source, shown = "".join(line[4:] or "\n" for line in lines[:written]), "".join(lines[written:])
        printed = io.StringIO()
        with working_in(folder), contextlib.redirect_stdout(printed):
            exec(compile(source, "<docs>", "single"), namespace)
        # Blank lines before the next prompt belong to the page, not to the output.
        text, real = shown.rstrip("\n"), printed.getvalue().rstrip("\n")
        output = kept(text + "\n", real + "\n") if text or real else ""
        result.append("".join(lines[:written]) + output + shown[len(text) + bool(text) :])
    return "".join(result)


def kept(shown: str, real: str) -> str:
    """What is shown where it agrees with the real output, else the real output."""
    parts = re.split(r"^\.\.\.\n", VARYING.sub("", shown), flags=re.MULTILINE)
    agrees = re.fullmatch("(?:.*\n)*".join(re.escape(part) for part in parts), VARYING.sub("", real))
    return shown if agrees else real


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Within it, `folder` is the current one."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the examples of Markdown pages.")
    parser.add_argument("--write", action="store_true", help="put the real output into the pages")
    parser.add_argument("pages", nargs="+", type=Path)
    arguments = parser.parse_args()
    stale = 0
    for page in arguments.pages:
        before = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copytree(ROOT / "examples", Path(scratch) / "examples")
            after = run_page(before, Path(scratch))
        if after == before:
            continue
        if arguments.write:
            page.write_text(after, encoding="utf-8")
            print(f"{page}: written anew")
        else:
            import difflib

            sys.stdout.writelines(
                difflib.unified_diff(before.splitlines(True), after.splitlines(True), str(page), "what it prints")
            )
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
