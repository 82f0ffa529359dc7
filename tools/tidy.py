#!/usr/bin/env python3
"""Look for faults in the C++ sources with clang-tidy, by the checks in .clang-tidy.

tools/tidy.py           what has changed: on the way from the main branch, or in the last commit, or not committed yet
tools/tidy.py --all     every source
tools/tidy.py FILE…     these

For a header that has changed a source is looked at that includes it. A source takes some seconds, so of many changes
only the first are looked at, and the others named. How sources are compiled is asked of CMake, in build/lint, where
nothing is built. The status is 1 if anything was found or could not be looked at.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "lint"
MOST = 8
"""How many sources are looked at because of what has changed."""
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def _program(name: str) -> str:
    """Return the path of a program that is installed beside this interpreter."""
    return str(Path(sys.executable).with_name(name))


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


def _base() -> str:
    """Return the commit that changes are counted from."""
    head = _git("rev-parse", "HEAD")
    for branch in ("origin/main", "main"):
        common = _git("merge-base", "HEAD", branch)
        if common and common != head:
            return common[0]
    return "HEAD~1"


def sources() -> list[Path]:
    """Return every source that CMake compiles, after it has been asked how."""
    nanobind = subprocess.run(
        [_program("python"), "-m", "nanobind", "--cmake_dir"], capture_output=True, text=True, check=True
    )
    arguments = ["-S", str(ROOT), "-B", str(FOLDER), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={_program('ninja')}"]
    options = ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DMOPSUS_TESTS=ON", f"-DPython_EXECUTABLE={sys.executable}"]
    done = subprocess.run(
        [_program("cmake"), *arguments, *options, f"-Dnanobind_DIR={nanobind.stdout.strip()}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    commands = json.loads((FOLDER / "compile_commands.json").read_text(encoding="utf-8"))
    files = {Path(command["file"]) for command in commands}
    return sorted(path for path in files if path.suffix == ".cpp" and (ROOT / "cpp") in path.parents)


def users(header: Path, files: dict[Path, list[str]]) -> list[Path]:
    """Return the files that include the header themselves, first one of the same name."""
    found = [path for path, names in files.items() if any(name.rsplit("/", 1)[-1] == header.name for name in names)]
    return sorted(found, key=lambda path: (path.stem != header.stem, path.suffix != ".cpp", path))


def changed(known: list[Path]) -> list[Path]:
    """Return the sources to be looked at because of what has changed."""
    names = _git("diff", "--name-only", "--diff-filter=d", _base(), "--", "cpp")
    names += _git("ls-files", "--others", "--exclude-standard", "--", "cpp")
    everything = [path for path in (ROOT / "cpp").rglob("*") if path.suffix in {".cpp", ".hpp"}]
    files = {path: _INCLUDE.findall(path.read_text(encoding="utf-8")) for path in everything}
    wanted: list[Path] = []
    for name in names:
        path, seen = ROOT / name, set[Path]()
        while path.suffix == ".hpp" and path not in seen:
            seen.add(path)
            path = next(iter(users(path, files)), path)
        if path in known and path not in wanted:
            wanted.append(path)
    return wanted


def look_at(path: Path) -> str | None:
    """Return what clang-tidy says of a source, or None if that is nothing.

    What the compiler itself warns of is for the build: the two compilers do not agree on it.
    """
    done = subprocess.run(
        [_program("clang-tidy"), "--quiet", "--extra-arg=-Wno-error", "-p", str(FOLDER), str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout or done.stderr) if done.returncode != 0 else None


def main() -> int:
    """Look at what the arguments say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--all", action="store_true", help="look at every source")
    parser.add_argument("--jobs", type=int, default=1, help="processes beside each other")
    parser.add_argument("files", nargs="*", metavar="FILE")
    arguments = parser.parse_args()
    known = sources()
    wanted = [Path(name).resolve() for name in arguments.files] or (known if arguments.all else changed(known))
    for path in set(wanted) - set(known):
        sys.exit(f"{os.path.relpath(path)}: not a source that CMake compiles")
    if not arguments.all and not arguments.files and len(wanted) > MOST:
        print(
            f"   {len(wanted) - MOST} of {len(wanted)} sources that have changed are left out; --all looks at them:",
            end=" ",
        )
        print(*(path.relative_to(ROOT) for path in wanted[MOST:]))
        wanted = wanted[:MOST]
    with ThreadPoolExecutor(max(arguments.jobs, 1)) as pool:
        found = [said for said in pool.map(look_at, wanted) if said is not None]
    print("".join(found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
