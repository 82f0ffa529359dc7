"""Programs that are woven in tests, and what is recorded of them."""

from __future__ import annotations

import sys
import textwrap

import pytest

import mopsus


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Writes a module of a name that is new, and gives that name."""
    made = []

    def write(text, name=None):
        name = name or f"woven_{len(made)}_{tmp_path.name.replace('-', '_')}"
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        made.append(name)
        return name

    monkeypatch.syspath_prepend(str(tmp_path))
    yield write
    for name in list(sys.modules):
        if any(name == each or name.startswith(each.split(".")[0] + ".") for each in made) or name in made:
            del sys.modules[name]


class Recorder:
    """The events of one spec without a property, in order, by their actions."""

    def __init__(self, header, *events):
        seen = self.seen = []
        _SEEN.append(seen)
        number = len(_SEEN) - 1
        lines = []
        for event in events:
            name = event.split()[1].split("(")[0]
            parameters = [
                p.split(":")[0].strip() for p in header.partition("(")[2].rstrip(") ").split(",") if p.strip()
            ]
            lines.append(f"{event} {{ record({number}, {name!r}, {', '.join(parameters)}) }}")
        text = "from test_weave_recorded import record\n" + header + " {\n" + "\n".join(lines) + "\n}\n"
        self.spec = next(iter(mopsus.parse(text).values()))
        self.woven = mopsus.weave(self.spec)

    def __enter__(self):
        self.woven.start()
        return self

    def __exit__(self, *error):
        self.woven.stop()

    def __iter__(self):
        return iter(self.seen)

    @property
    def names(self):
        return [name for name, *_ in self.seen]


_SEEN = []


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    module = type(sys)("test_weave_recorded")
    module.record = lambda number, *values: _SEEN[number].append(values)
    monkeypatch.setitem(sys.modules, "test_weave_recorded", module)
