"""Events of a woven program's classes: whose subclasses' they are, and when objects are created."""

from __future__ import annotations

import importlib

import pytest
from events.pool import POOL
from events.woven import Recorder, program, recorded

pytestmark = pytest.mark.interpreter

__all__ = ["program", "recorded"]  # fixtures


def test_subclasses_once_by_plus(program):
    name = program(POOL)
    with (
        Recorder("R(p)", f"event get before(p) : call({name}.Pool+.acquire) && target(p)") as seen,
        Recorder("B(p)", f"event get before(p) : call({name}.Pool.acquire) && target(p)") as base,
    ):
        module = importlib.import_module(name)
        objects = [module.Pool(), module.Special(), module.Plain()]
        for each in objects:
            each.acquire(1)
    assert seen.seen == [("get", each) for each in objects]
    assert base.seen == [("get", each) for each in objects]  # the override calls it


def test_subclass_that_is_defined_later(program):
    name = program(POOL)
    later = program(f"from {name} import Pool\nclass Late(Pool):\n    def acquire(self, key):\n        return key\n")
    with Recorder("R(p)", f"event get before(p) : call({name}.Pool+.acquire) && target(p)") as seen:
        late = importlib.import_module(later).Late()
        assert late.acquire(1) == 1
    assert seen.seen == [("get", late)]


SHAPES = """
    import abc

    class Shape(abc.ABC):
        def draw(self): ...

    class Round(Shape): ...

    class Circle:
        def draw(self): return "circle"

    class Dot(Circle): ...

    Round.register(Circle)
"""


def test_classes_that_are_registered_are_subclasses(program):
    name = program(SHAPES)
    later = program(f"""
    from {name} import Circle, Round, Shape

    class Late(Circle):
        def draw(self): return "late"

    class Slow:
        def draw(self): return "slow"

    class Decorated:
        def __new__(cls): return super().__new__(cls)

    class Registered: ...

    Shape.register(Slow)
    Decorated = Round.register(Decorated)
    """)
    spec = (
        f"event draw before(s) : call({name}.Shape+.draw) && target(s)",
        f"event made after() returning(s) : new({name}.Shape+)",
    )
    with Recorder("R(s)", *spec) as seen:
        early, late = importlib.import_module(name), importlib.import_module(later)
        unrelated = late.Registered()
        early.Shape.register(late.Registered)
        objects = [early.Circle(), early.Dot(), late.Late(), late.Slow(), late.Decorated(), late.Registered()]
        drawn = [each.draw() for each in objects[:4]]
    assert drawn == ["circle", "circle", "late", "slow"]
    assert seen.seen == [("made", each) for each in objects] + [("draw", each) for each in objects[:4]]
    assert unrelated not in [each for _, each in seen.seen]


def test_classes_that_were_registered_before_weaving_are_subclasses(program):
    name = program(SHAPES)
    module = importlib.import_module(name)
    with (
        Recorder("R(s)", f"event draw before(s) : call({name}.Shape+.draw) && target(s)") as seen,
        Recorder("F(f: io.IOBase)", "event close before(f) : call(io.IOBase+.close) && target(f)") as files,
        Recorder("L(x)", "event add before(x) : call(collections.abc.MutableSequence+.append) && target(x)") as lists,
    ):
        later = program(f"from {name} import Dot\nclass Later(Dot):\n    def draw(self): return 1")
        objects = [module.Circle(), module.Dot(), importlib.import_module(later).Later()]
        for each in objects:
            each.draw()
        text = open(__file__)  # noqa: SIM115 - it is closed twice
        text.close()
        text.close()
        several = []
        several.append(1)
    assert seen.seen == [("draw", each) for each in objects]
    assert [each for _, each in files.seen if each is text] == [text, text]
    assert [each for _, each in lists.seen if each is several] == [several]


def test_a_decorator_that_registers_leaves_the_class_to_the_next_one(program):
    name = program("""
    import abc, dataclasses

    class Shape(abc.ABC): ...

    @dataclasses.dataclass
    @Shape.register
    class Square:
        side: int = 1
    """)
    with Recorder("R(s)", f"event made after() returning(s) : new({name}.Shape+)") as seen:
        square = importlib.import_module(name).Square(2)
    assert square.side == 2
    assert seen.seen == [("made", square)]


def test_inherited_method_of_one_subclass(program):
    name = program(POOL)
    with Recorder("R(p)", f"event get before(p) : call({name}.Plain.acquire) && target(p)") as seen:
        module = importlib.import_module(name)
        plain, pool = module.Plain(), module.Pool()
        plain.acquire(1)
        pool.acquire(1)
    assert seen.seen == [("get", plain)]


def test_type_that_is_defined_later(program):
    name = program(POOL)
    with Recorder("R(p: Special)", f"event get before(p) : call({name}.Pool+.acquire) && target(p)") as seen:
        module = importlib.import_module(name)
        module.Pool().acquire(1)
        special = module.Special()
        special.acquire(2)
    assert seen.seen == [("get", special)]


def test_creation(program):
    name = program(
        POOL
        + """
    class Bare:
        pass

    import dataclasses, collections

    @dataclasses.dataclass(slots=True)
    class Data:
        x: int

    Point = collections.namedtuple("Point", "x y")

    class Pair(Point):
        pass

    class Box(dict):
        pass
"""
    )
    events = [
        f"event {cls.lower()} after() returning(x) : new({name}.{cls})"
        for cls in ("Pool", "Bare", "Data", "Pair", "Box")
    ]
    with Recorder("R(x)", *events, f"event family after() returning(x) : new({name}.Pool+)") as seen:
        module = importlib.import_module(name)
        made = [module.Pool(2), module.Special(3), module.Bare(), module.Data(1), module.Pair(1, 2), module.Box(a=1)]
        with pytest.raises(TypeError):
            module.Bare(1)
    assert made[0].size == 2
    assert made[3].x == 1
    assert made[4] == (1, 2)
    assert made[5] == {"a": 1}
    wanted = [("pool", made[0]), ("family", made[0]), ("family", made[1])]
    wanted += [(type(each).__name__.lower(), each) for each in made[2:]]
    assert [(name, id(x)) for name, x in seen.seen] == [(name, id(x)) for name, x in wanted]


def test_creation_with_several_bases(program):
    name = program("""
        class Mixin:
            pass
        class Real:
            def __init__(self, x):
                self.x = x
        class Both(Mixin, Real):
            pass
        class Maker(Mixin):
            def __new__(cls, x):
                self = super().__new__(cls)
                self.x = x
                return self
        class Ends(Mixin):
            ended = []
            def __del__(self):
                self.ended.append(1)
    """)
    with Recorder(
        f"R(x: {name}.Mixin)",
        f"event made after() returning(x) : new({name}.Mixin+)",
        "event gone before(x) : endObject(x)",
    ) as seen:
        module = importlib.import_module(name)
        assert module.Both(3).x == 3
        assert module.Maker(4).x == 4
        module.Mixin()
        module.Ends()
        assert seen.names.count("made") == 4
        with pytest.raises(TypeError):
            module.Mixin(1)
        seen.seen.clear()
        assert module.Ends.ended == [1]
        assert "gone" in seen.names
