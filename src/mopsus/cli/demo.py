"""`mopsus demo`: the main job on two shipped logs, told as a short story.

Nothing here is staged: each step runs the command it shows, in a process of its own, on files
that the reader keeps and can change.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.messages import CommandError


def demo(
    folder: Annotated[
        Path, typer.Argument(help="Where to put the example files; what is there already is kept.", metavar="[FOLDER]")
    ] = Path("mopsus-demo"),
) -> int:
    """Check two example logs, find the bugs in them, and show how to check your own."""
    source = find_examples()
    for path in source.glob("*/*.*"):
        copy = folder / path.relative_to(source)
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)

    tell(
        f"""
        # 1. A log, and a sentence about it

        `{folder}/pool/pool.csv` is the log of a web service: requests borrow a database connection, read from cursors
        on it, and give it back. Every line of it looks fine. Here is what must never happen, in a file of a few lines:
        """
    )
    show_file(folder / "pool/cursor.mop")
    tell("Each pair of a connection and a cursor is followed on its own, through all that is interleaved in the log:")
    run("check", folder / "pool/cursor.mop", folder / "pool/pool.csv")

    tell(
        f"""
        # 2. The same for a log in its own words

        `{folder}/leases/queue.jsonl` was written by a job queue long before anybody thought of checking it. A spec can
        say which lines are which events, and which fields carry the parameters, so nothing has to be converted:
        """
    )
    show_file(folder / "leases/leases.mop")
    tell("What it becomes is a small machine, one for each job and worker:")
    run("graph", folder / "leases/leases.mop", "--spec", "LeaseKept")
    tell("Four leases ran out in this log. For two of them that was harmless:")
    run("check", folder / "leases/leases.mop", folder / "leases/queue.jsonl")

    tell(
        f"""
        # 3. Now yours

        So two invoices were sent twice, and the other report says why: each time a worker came back from a hang and
        finished a job that was no longer its own. The cause and the damage are many lines and another worker apart,
        which is why searching for one bad line finds neither.

        To try your own, change a spec or a log in `{folder}/` and ask again:

            {program()} check {folder}/leases/leases.mop {folder}/leases/queue.jsonl
            {program()} graph {folder}/pool/cursor.mop -o machine.svg
            {program()} check my.mop my-log.jsonl      # CSV, JSON lines, Parquet, Arrow; - for standard input
        """
    )
    return 0


def find_examples() -> Path:
    """The folder of examples: inside an installed package, or beside the sources in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for candidate in (package / "examples", package.parent.parent / "examples"):
        if (candidate / "pool").is_dir():
            return candidate
    raise CommandError("the example files are not installed", hint="install the mopsus package again", code="CLI-004")


def tell(text: str) -> None:
    """Print a part of the story: headings in bold, paragraphs to the terminal's width, indented lines as they are."""
    strong, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    width = min(shutil.get_terminal_size().columns, 100)
    for paragraph in textwrap.dedent(text).strip("\n").split("\n\n"):
        if paragraph.startswith("# "):
            print(f"\n{strong}{paragraph.removeprefix('# ')}{plain}\n")
        elif paragraph.startswith(" "):
            print(paragraph + "\n")
        else:
            print(textwrap.fill(" ".join(paragraph.split()), width) + "\n")


def show_file(path: Path) -> None:
    """Print a spec, set off from the story."""
    print(textwrap.indent(path.read_text(encoding="utf-8"), "  | ", lambda _: True))


def program() -> str:
    """What to type to run this program again."""
    return "mopsus" if shutil.which("mopsus") else os.path.relpath(sys.argv[0])


def run(*arguments: str | Path) -> None:
    """Show a command and run it; that it finds violations is the point, anything worse is an error."""
    words = [str(argument) for argument in arguments]
    print(f"  $ {program()} {shlex.join(words)}\n", flush=True)
    status = subprocess.run([sys.executable, "-m", "mopsus", *words], check=False).returncode
    if status not in (0, 1):
        raise CommandError(f"`mopsus {words[0]}` ended with status {status}", hint="see above for why", code="CLI-004")
    print(flush=True)
