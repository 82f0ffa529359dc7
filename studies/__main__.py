"""The command: `python -m studies run [PROJECT…]`, `page`, `open`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from mopsus import MopsusError
from studies import page
from studies.environment import BUILD, prepare
from studies.error import StudyError
from studies.judge import Judgements, load_judgements
from studies.measure import study
from studies.projects import Project, load_projects
from studies.results import load_results, store_result

ROUNDS = 3


def main(words: Sequence[str] | None = None) -> int:
    """Do what the words say; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m studies", description="Contracts over the tests of real projects.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="study projects; without names all, where an interrupted run has stopped")
    run.add_argument("projects", nargs="*", metavar="PROJECT")
    run.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each side is measured (default {ROUNDS})")
    commands.add_parser("page", help="write docs/case-studies.md anew").add_argument(
        "--check", action="store_true", help="write nothing; the exit status says whether the page is what it should be"
    )
    commands.add_parser("open", help="the violations that nobody has judged yet").add_argument(
        "projects", nargs="*", metavar="PROJECT"
    )
    arguments = parser.parse_args(words)
    try:
        if arguments.command == "page":
            return page.write(check=arguments.check)
        if arguments.command == "open":
            return _show_open(arguments.projects)
        return _run(arguments.projects, arguments.rounds)
    except MopsusError as error:
        print(f"error: {error.message}" + (f"\n  = {error.hint}" if error.hint else ""), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted; `python -m studies run` goes on with the project that was not finished", file=sys.stderr)
        return 130


def _run(names: Sequence[str], rounds: int) -> int:
    projects = load_projects()
    if unknown := [name for name in names if name not in projects]:
        raise StudyError(f"there is no project {unknown[0]!r}", hint=f"there are {', '.join(projects)}")
    sweep = _Sweep(BUILD / "finished.json", whole=not names)
    failed = []
    for project in [projects[name] for name in names or projects if name not in sweep.finished]:
        _say(f"{project.name} {project.version}")
        try:
            _study(project, rounds)
        except StudyError as error:  # the others can be studied all the same
            _say(f"  error: {error.message}\n  = {error.hint}")
            failed.append(project.name)
        else:
            sweep.finish(project.name)
    sweep.end()
    page.write()
    if failed:
        _say(f"not studied: {', '.join(failed)}")
    return 2 if failed else 0


def _study(project: Project, rounds: int) -> None:
    outcome = study(project, prepare(project), rounds, _say)
    store_result(project.name, outcome)
    _say(f"  end to end {outcome.end_to_end.ratio:.2f}, tests {outcome.tests.ratio:.2f}")
    for each in outcome.changed:
        _say(f"  {each.test}: {', '.join(each.plain)} without contracts, {', '.join(each.watched)} with them")
    _show_open([project.name])


def _show_open(names: Sequence[str]) -> int:
    judgements: Judgements = load_judgements()
    unjudged = 0
    for name, outcome in load_results().items():
        for each in outcome.violations if not names or name in names else ():
            if judgements.of(name, each) is None:
                unjudged += 1
                print(f"{name} {each.contract} {each.place} ({each.count} times, {each.function}, {each.test})")
                for event in each.witness:
                    print(f"    {event.name:16} {event.place:44} {event.line}")
    if unjudged:
        print(f"{unjudged} not judged yet: add them to judgements.toml", file=sys.stderr)
    return 0


class _Sweep:
    """Which projects an interrupted run of all of them had finished."""

    def __init__(self, file: Path, *, whole: bool) -> None:
        self._file = file if whole else None
        self.finished: list[str] = json.loads(file.read_text()) if whole and file.exists() else []

    def finish(self, name: str) -> None:
        self.finished.append(name)
        if self._file is not None:
            self._file.write_text(json.dumps(self.finished))

    def end(self) -> None:
        if self._file is not None:
            self._file.unlink(missing_ok=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
