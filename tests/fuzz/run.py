"""One Python target under atheris: `python -m fuzz.run TARGET [options and folders of libFuzzer]`.

`tools/fuzz` starts it; see there.
"""

from __future__ import annotations

import importlib
import sys

import atheris


def main() -> None:
    name, *arguments = sys.argv[1:]
    # What finds a package that is installed in place hides its sources from what instruments them.
    sys.meta_path[:] = [each for each in sys.meta_path if "editable" not in type(each).__module__]
    # For good: many modules are imported when they are first needed, which is in the midst of a target.
    atheris.instrument_imports(include=["mopsus"]).__enter__()
    target = importlib.import_module(f"fuzz.targets.{name}")
    atheris.Setup([sys.argv[0], *arguments], target.one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
