"""One Python target under atheris: `python -m fuzz.run TARGET [options and folders of libFuzzer]`.

`tools/fuzz` starts it; see there.
"""

from __future__ import annotations

import importlib
import sys
import time

import atheris

MOST_S = 15.0
"""Of the processor's time, for one input. The fuzzer's own limit is about the clock, whoever else is busy."""


def main() -> None:
    name, *arguments = sys.argv[1:]
    # What finds a package that is installed in place hides its sources from what instruments them.
    sys.meta_path[:] = [each for each in sys.meta_path if "editable" not in type(each).__module__]
    # For good: many modules are imported when they are first needed, which is in the midst of a target.
    atheris.instrument_imports(include=["mopsus"]).__enter__()
    target = importlib.import_module(f"fuzz.targets.{name}")

    def one(data: bytes) -> None:
        before = time.process_time()
        target.one(data)
        took = time.process_time() - before
        assert took < MOST_S, f"it took {took:.0f} s of the processor's time"

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
