"""Functions and classes that leave by value, into an interpreter that has cloudpickle and nothing else of ours."""

import abc
import asyncio
import collections
import contextlib
import dataclasses
import enum
import functools
import marshal
import os
import pickle
import subprocess
import sys
import types
import typing

import cloudpickle
import pytest

CHILD = """
import pickle, sys
function, args = pickle.load(sys.stdin.buffer)
try:
    result = True, function(*args)
except Exception as error:
    result = False, (type(error).__name__, str(error))
assert "mopsus" not in sys.modules
sys.stdout.buffer.write(pickle.dumps(result))
"""


@pytest.fixture(scope="module")
def libraries():
    """Where cloudpickle is."""
    return os.path.dirname(os.path.dirname(cloudpickle.__file__))


@pytest.fixture
def elsewhere(libraries):
    """Calls a function in another process, which has no site-packages."""

    def run(function, *args):
        payload = cloudpickle.dumps((function, args))
        child = subprocess.run(
            [sys.executable, "-S", "-c", CHILD],
            input=payload,
            capture_output=True,
            env={"PYTHONPATH": libraries, "PATH": os.environ.get("PATH", "")},
            check=False,
        )
        assert not child.returncode, child.stderr.decode()
        fine, result = pickle.loads(child.stdout)
        if not fine:
            raise RuntimeError(*result)
        return result

    return run


def here(function, *args):
    """Calls a copy of a function in this process."""
    return pickle.loads(cloudpickle.dumps(function))(*args)


@pytest.fixture(params=["here", "elsewhere"])
def call(request, elsewhere):
    return here if request.param == "here" else elsewhere


def total(values):
    result = 0
    for value in values:
        result += value
    return result


def uses_a_global(values):
    return [total([value, 1]) for value in values]


def squares(count):
    for number in range(count):
        yield number * number


class Account:
    """A class of this module."""

    opened = 0

    def __init__(self, balance=0):
        self.balance = balance
        type(self).opened += 1

    def deposit(self, *amounts):
        for amount in amounts:
            self.balance += amount
        return self

    @property
    def empty(self):
        return not self.balance

    @classmethod
    def of(cls, *amounts):
        return cls().deposit(*amounts)

    @staticmethod
    def fee(amounts):
        return sum(1 for _ in amounts)

    def __eq__(self, other):
        return isinstance(other, Account) and self.balance == other.balance

    __hash__ = None


@pytest.fixture
def this_module_by_value():
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_a_lambda(call):
    assert call(lambda x: x + 1, 1) == 2


def test_a_loop(call):
    def longest(words):
        best = ""
        for word in words:
            if len(word) > len(best):
                best = word
        else:
            best += "!"
        return best

    assert call(longest, ["a", "abc", "ab"]) == "abc!"


def test_while_break_continue(call):
    def collatz(number):
        steps = []
        while True:
            steps.append(number)
            if number == 1:
                break
            if number % 2 == 0:
                number //= 2
                continue
            number = 3 * number + 1
        return steps

    assert call(collatz, 6) == [6, 3, 10, 5, 16, 8, 4, 2, 1]


def test_comprehensions(call):
    def run(count):
        numbers = [x for x in range(count) if x % 2]
        return numbers, {x: [y for y in range(x)] for x in numbers}, {x % 3 for x in numbers}, sum(x for x in numbers)

    assert call(run, 4) == ([1, 3], {1: [0], 3: [0, 1, 2]}, {0, 1}, 4)


def test_a_closure_with_state(call):
    count, seen = 10, []

    def run(values):
        nonlocal count
        for value in values:
            count += value
            seen.append(count)
        return count, seen

    assert call(run, [1, 2]) == (13, [11, 13])


def test_functions_within_functions(call):
    def outer(n):
        def inner(m):
            for k in range(m):
                yield lambda k=k: (n, k)

        return [function() for function in inner(n)]

    assert call(outer, 2) == [(2, 0), (2, 1)]


def test_recursion_by_a_cell(call):
    def depth(tree):
        deepest = 0
        for child in tree:
            deepest = max(deepest, depth(child))
        return deepest + 1

    assert call(depth, [[], [[]]]) == 3


def test_defaults_annotations_and_attributes(call):
    def run(a, b=2, *rest: int, c: str = "c", **more) -> tuple:
        return a, b, rest, c, more

    run.note = {"for": [1]}
    copy = pickle.loads(cloudpickle.dumps(run))
    assert (copy.__defaults__, copy.__kwdefaults__, copy.__annotations__) == (
        run.__defaults__,
        run.__kwdefaults__,
        run.__annotations__,
    )
    assert copy.note == {"for": [1]}
    assert copy.__code__ == run.__code__
    assert call(run, 1) == (1, 2, (), "c", {})
    assert call(functools.partial(run, 0, c="x", y=1), 5, 6) == (0, 5, (6,), "x", {"y": 1})


def test_generators(call):
    def pairs(values):
        iterator = iter(values)
        for first in iterator:
            yield first, next(iterator, None)

    def run(values):
        return list(pairs(values))

    assert call(run, [1, 2, 3]) == [(1, 2), (3, None)]


def test_yield_from_send_and_throw(call):
    def inner():
        try:
            got = yield 1
            yield got * 2
        except ValueError:
            yield "caught"
        return "done"

    def run():
        def outer():
            return (yield from inner())

        generator = outer()
        first, second, third = next(generator), generator.send(4), generator.throw(ValueError)
        try:
            next(generator)
        except StopIteration as stop:
            return first, second, third, stop.value
        return None

    assert call(run) == (1, 8, "caught", "done")


def test_coroutines(call):
    async def double(x):
        await asyncio.sleep(0)
        return 2 * x

    async def count(to):
        for i in range(to):
            await asyncio.sleep(0)
            yield i

    @contextlib.asynccontextmanager
    async def scope(log):
        log.append("in")
        yield log
        log.append("out")

    async def main():
        log = []
        async with scope(log):
            async for i in count(3):
                log.append(await double(i))
        return log + await asyncio.gather(*(double(i) for i in range(2))) + [i async for i in count(2)]

    assert call(lambda: asyncio.run(main())) == ["in", 0, 2, 4, "out", 0, 2, 0, 1]


def test_with_and_exceptions(call):
    class Once:
        entered = 0

        def __enter__(self):
            type(self).entered += 1
            return self

        def __exit__(self, kind, error, trace):
            return kind is KeyError

    def run():
        with Once() as once, contextlib.suppress(IndexError):
            for key in ["a"]:
                {}[key]
        try:
            raise ValueError("told")
        except ValueError as error:
            told = error.args
        finally:
            done = True
        return once.entered, told, done

    assert call(run) == (1, ("told",), True)


def test_an_exception_comes_back(call):
    def fail(values):
        for value in values:
            if value < 0:
                raise ArithmeticError(f"negative: {value}")

    with pytest.raises((RuntimeError, ArithmeticError), match="negative: -1"):
        call(fail, [1, -1])


def test_except_groups_and_patterns(call):
    def run(values):
        told = []
        for value in values:
            match value:
                case [first, *rest]:
                    told.append((first, rest))
                case {"key": found}:
                    told.append(found)
                case _:
                    told.append(None)
        try:
            raise ExceptionGroup("both", [ValueError(1), TypeError(2)])
        except* ValueError as group:
            told.append(len(group.exceptions))
        except* TypeError:
            pass
        return told

    assert call(run, [[1, 2, 3], {"key": "x"}, 0]) == [(1, [2, 3]), "x", None, 1]


def test_imports_within(call):
    def run(text):
        import json
        from collections import Counter

        return json.dumps(dict(sorted(Counter(text).items())))

    assert call(run, "abca") == '{"a": 2, "b": 1, "c": 1}'


def test_files(call, tmp_path):
    def run(path):
        with open(path, "w") as file:
            for i in range(3):
                file.write(f"{i}\n")
        with open(path) as file:
            return [int(line) for line in file]

    assert call(run, str(tmp_path / "numbers")) == [0, 1, 2]


def test_threads(call):
    import threading

    def run(count):
        lock, found = threading.Lock(), []

        def work(i):
            with lock:
                found.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(found)

    assert call(run, 3) == [0, 1, 2]


def test_a_local_class(call):
    class Stack:
        def __init__(self):
            self._items = []

        def push(self, *items):
            for item in items:
                self._items.append(item)
            return self

        def __iter__(self):
            yield from reversed(self._items)

        def __len__(self):
            return len(self._items)

        @property
        def top(self):
            return self._items[-1]

        @top.setter
        def top(self, item):
            self._items[-1] = item

        @classmethod
        def of(cls, *items):
            return cls().push(*items)

        @staticmethod
        def limit():
            return 7

    def run(*items):
        stack = Stack.of(*items)
        stack.top = 9
        return list(stack), len(stack), stack.top, stack.limit()

    assert call(run, 1, 2) == ([9, 1], 2, 9, 7)
    assert list(pickle.loads(cloudpickle.dumps(Stack.of(1, 2)))) == [2, 1]


def test_inheritance_and_super(call):
    class Base(abc.ABC):
        registry: typing.ClassVar[list] = []

        def __init_subclass__(cls, **options):
            super().__init_subclass__()
            cls.registry.append((cls.__name__, options))

        @abc.abstractmethod
        def area(self): ...

        def told(self):
            return f"{type(self).__name__} {self.area()}"

    class Square(Base, sides=4):
        def __init__(self, side):
            self.side = side

        def area(self):
            return self.side**2

        def told(self):
            return super().told() + "!"

    assert call(lambda: Square(3).told()) == "Square 9!"


def test_metaclasses_and_slots(call):
    class Meta(type):
        def __call__(cls, *args):
            made = super().__call__(*args)
            for name in cls.__slots__:
                getattr(made, name)
            return made

    class Point(metaclass=Meta):
        __slots__ = ("x", "y")

        def __init__(self, x, y):
            self.x, self.y = x, y

    assert call(lambda: (Point(1, 2).x, Point(1, 2).y)) == (1, 2)


def test_dataclasses_enumerations_and_tuples(call):
    @dataclasses.dataclass(order=True)
    class Item:
        name: str
        tags: list = dataclasses.field(default_factory=list)

        def __post_init__(self):
            for tag in ("a", "b"):
                self.tags.append(tag)

    class Color(enum.Enum):
        RED = 1
        BLUE = 2

        def other(self):
            return next(each for each in type(self) if each is not self)

    Pair = collections.namedtuple("Pair", "a b")

    def run():
        return dataclasses.astuple(Item("n")), Item("a") < Item("b"), Color.RED.other().name, Pair(1, 2)._asdict()

    assert call(run) == (("n", ["a", "b"]), True, "BLUE", {"a": 1, "b": 2})


def test_decorators(call):
    def counted(function):
        @functools.wraps(function)
        def inner(*args):
            inner.calls += 1
            return function(*args)

        inner.calls = 0
        return inner

    @counted
    def add(*numbers):
        result = 0
        for number in numbers:
            result += number
        return result

    def run():
        return add(1, 2), add(3), add.calls

    assert call(run) == (3, 3, 2)


def test_operators(call):
    class Vector:
        def __init__(self, *parts):
            self.parts = parts

        def __add__(self, other):
            return Vector(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

        def __getitem__(self, index):
            return self.parts[index]

        def __contains__(self, part):
            return any(part == each for each in self.parts)

        def __format__(self, spec):
            return spec.join(map(str, self.parts))

        def __call__(self, function):
            return [function(part) for part in self.parts]

    def run():
        both = Vector(1, 2) + Vector(3, 4)
        both += Vector(1, 1)
        return both[0], 7 in both, f"{both:-}", both(lambda x: x * 2), "{} %s".format("a") % "b"

    assert call(run) == (5, True, "5-7", [10, 14], "a b")


@pytest.mark.usefixtures("this_module_by_value")
def test_a_module_by_value(call):
    assert call(total, [1, 2]) == 3
    assert call(uses_a_global, [1, 2]) == [2, 3]
    assert call(lambda: list(squares(3))) == [0, 1, 4]


@pytest.mark.usefixtures("this_module_by_value")
def test_a_class_of_a_module_by_value(elsewhere):
    def run():
        account = Account.of(1, 2)
        return account.balance, account.empty, Account.fee([1, 2]), account == Account(3)

    assert elsewhere(run) == (3, False, 2, True)
    assert elsewhere(lambda: Account.of(4).balance) == 4


@pytest.mark.usefixtures("this_module_by_value")
def test_methods(elsewhere):
    account = Account(1)
    assert elsewhere(lambda: account.deposit(2).balance) == 3
    deposit = account.deposit
    assert elsewhere(lambda: deposit(5).balance) == 6


def test_a_module_made_by_hand(call):
    module = types.ModuleType("made_by_hand")
    exec("def each(values):\n    return [value for value in values]\n", module.__dict__)
    assert call(lambda: module.each([1, 2])) == [1, 2]


def test_by_name_as_before():
    assert pickle.loads(cloudpickle.dumps(total)) is total
    assert pickle.loads(cloudpickle.dumps(Account)) is Account
    assert b"test_values" in pickle.dumps(total)


def test_pickle_refuses_what_is_local():
    def local():
        for _ in ():
            pass

    with pytest.raises((AttributeError, pickle.PicklingError), match="local"):
        pickle.dumps(local)


def test_a_pickle_is_the_same_twice():
    def run(values):
        return [value for value in values]

    assert cloudpickle.dumps(run) == cloudpickle.dumps(run)


def test_a_copy_of_a_copy(elsewhere):
    def run(values):
        for value in values:
            return value
        return None

    for _ in range(3):
        run = pickle.loads(cloudpickle.dumps(run))
    assert elsewhere(run, [4]) == 4


def test_code_by_marshal(libraries):
    def run(values):
        result = []
        for value in values:
            with open(os.devnull) as file:
                result.append(value + len(file.read()))
        return [each * 2 for each in result]

    code = marshal.dumps(run.__code__)
    child = (
        "import marshal, os, sys, types\n"
        "code = marshal.loads(sys.stdin.buffer.read())\n"
        "print(types.FunctionType(code, {'os': os})([1, 2]))\n"
    )
    done = subprocess.run([sys.executable, "-S", "-c", child], input=code, capture_output=True, check=False)
    assert (done.stdout.decode().strip(), done.stderr) == ("[2, 4]", b"")
    assert types.FunctionType(marshal.loads(code), {"os": os})([1]) == [2]


def test_interactive_code(elsewhere):
    space = {"__name__": "__main__"}
    functions = "def run(values):\n    return sorted(v for v in values)\n"
    text = functions + "class C:\n    def f(self):\n        return run([2, 1])\n"
    exec(compile(text, "<stdin>", "exec"), space)
    assert elsewhere(space["run"], [3, 1]) == [1, 3]
    assert elsewhere(lambda: space["C"]().f()) == [1, 2]
