"""The command: `python -m studies.decentral run [STUDY…]`, `page`, `record FOLDER`, `detect FOLDER`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mopsus import MopsusError
from studies.decentral import page
from studies.decentral.apartment import study as apartment
from studies.decentral.chiron import study as chiron
from studies.decentral.results import Results, load_results, store
from studies.decentral.synthetic import study as synthetic
from studies.decentral.thesis import load_thesis


def _run_synthetic(folder: Path, processes: int, results: Results) -> None:
    results.synthetic = synthetic.run(synthetic.prepare(folder), processes, _show)


def _run_chiron(folder: Path, processes: int, results: Results) -> None:
    results.chiron = chiron.run(chiron.prepare(folder), processes, _show)


def _run_apartment(folder: Path, processes: int, results: Results) -> None:
    results.apartment = apartment.run(folder)


STUDIES: Mapping[str, Callable[[Path, int, Results], None]] = {
    "synthetic": _run_synthetic,
    "chiron": _run_chiron,
    "apartment": _run_apartment,
}


def main(words: Sequence[str] | None = None) -> int:
    """Do what the words say; gives the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.decentral", description="The experiments of the THEMIS thesis, done again."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="carry out studies; without names all of them")
    run.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(STUDIES))
    run.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    commands.add_parser("page", help="write docs/decentral-studies.md anew").add_argument(
        "--check", action="store_true", help="write nothing; the exit status says whether the page is what it should be"
    )
    for name, does in (("record", "make the recordings of the home"), ("detect", "detect activities in recordings")):
        commands.add_parser(name, help=does).add_argument("folder", type=Path, help="with a folder for each day in it")
    arguments = parser.parse_args(words)
    try:
        return _do(arguments, parser)
    except MopsusError as error:
        print(f"error: {error.message}" + (f"\n  = {error.hint}" if error.hint else ""), file=sys.stderr)
        return 2


def _do(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    if arguments.command == "page":
        return page.write(check=arguments.check)
    if arguments.command == "record":
        apartment.record(arguments.folder)
        return 0
    if arguments.command == "detect":
        print(page.apartment_detection(apartment.detect(arguments.folder), load_thesis()))
        return 0
    if unknown := [name for name in arguments.studies if name not in STUDIES]:
        parser.error(f"there is no study {unknown[0]}; there are {', '.join(STUDIES)}")
    for name in arguments.studies or STUDIES:
        print(name, file=sys.stderr)
        with tempfile.TemporaryDirectory() as scratch:
            results = load_results()
            STUDIES[name](Path(scratch), arguments.processes, results)
            store(results)
    return page.write()


def _show(done: int, total: int) -> None:
    if done % 1000 == 0 or done == total:
        print(f"\r  {done:,} of {total:,} runs", end="\n" if done == total else "", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
