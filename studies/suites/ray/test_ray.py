"""Tasks, actors and generators whose code is made in the test, so that ray sends it to its workers by value."""

import asyncio
import collections
import contextlib
import dataclasses
import functools
import os
import sys

import pytest
import ray
from ray import cloudpickle


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """A cluster whose workers know nothing but ray: whoever watches this process is not there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.path.dirname(os.path.dirname(ray.__file__)))
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    yield
    ray.shutdown()


def remotely(function, *args, **options):
    """What a function gives in a worker."""
    task = ray.remote(**options)(function) if options else ray.remote(function)
    return ray.get(task.remote(*args))


@ray.remote
def of_the_module(values):
    result = 0
    for value in values:
        result += value
    return result


def test_a_function_of_the_module():
    assert ray.get(of_the_module.remote([1, 2, 3])) == 6


def test_workers_are_not_watched():
    assert remotely(lambda: "mopsus" in __import__("sys").modules) is False


def test_a_lambda():
    assert remotely(lambda x: x * 2, 4) == 8


def test_loops():
    def longest(words):
        best = ""
        for word in words:
            if len(word) > len(best):
                best = word
        else:
            best += "!"
        while not best.endswith("!!"):
            best += "!"
        return best

    assert remotely(longest, ["a", "abc"]) == "abc!!"


def test_comprehensions():
    def run(count):
        odd = [x for x in range(count) if x % 2]
        return odd, {x: [y for y in range(x)] for x in odd}, {x % 3 for x in odd}, sum(x for x in odd)

    assert remotely(run, 4) == ([1, 3], {1: [0], 3: [0, 1, 2]}, {0, 1}, 4)


def test_closures():
    factor, seen = 3, []

    def scaled(values):
        for value in values:
            seen.append(value * factor)
        return seen

    assert remotely(scaled, [1, 2]) == [3, 6]
    assert seen == []


def test_functions_within_functions():
    def outer(values):
        def inner(value):
            for step in range(value):
                yield step

        return [list(inner(value)) for value in values]

    assert remotely(outer, [1, 2]) == [[0], [0, 1]]


def test_with(tmp_path):
    @contextlib.contextmanager
    def told(log):
        log.append("in")
        try:
            yield log
        finally:
            log.append("out")

    def run(path):
        log = []
        with told(log), contextlib.suppress(KeyError):
            {}["nothing"]
        with open(path, "w") as file:
            for entry in log:
                file.write(entry + "\n")
        with open(path) as file:
            return [line.strip() for line in file]

    assert remotely(run, str(tmp_path / "log")) == ["in", "out"]


def test_await():
    async def double(x):
        await asyncio.sleep(0)
        return 2 * x

    async def numbers(count):
        for i in range(count):
            yield await double(i)

    async def main():
        lock, found = asyncio.Lock(), []
        async with lock:
            async for number in numbers(3):
                found.append(number)
        return found + await asyncio.gather(double(5), double(6)) + [n async for n in numbers(2)]

    assert remotely(lambda: asyncio.run(main())) == [0, 2, 4, 10, 12, 0, 2]


def test_exceptions_through_tasks():
    class Refused(Exception):
        def __init__(self, values):
            super().__init__(f"refused {values}")
            self.values = values

        def __reduce__(self):
            return type(self), (self.values,)

    def fail(values):
        for value in values:
            try:
                {}[value]
            except KeyError as error:
                raise Refused([value]) from error

    with pytest.raises(Refused, match="refused"):
        remotely(fail, ["a"])

    def lookup():
        for key in ("a",):
            return {}[key]

    with pytest.raises(KeyError) as caught:
        remotely(lookup)
    assert "return {}[key]" in str(caught.value)


def test_caught_within_a_task():
    def run(values):
        told = []
        for value in values:
            try:
                told.append(10 // value)
            except ZeroDivisionError:
                told.append(None)
            else:
                told.append("fine")
            finally:
                told.append("done")
        return told

    assert remotely(run, [5, 0]) == [2, "fine", "done", None, "done"]


def test_retries(tmp_path):
    def flaky(path):
        with open(path, "a") as file:
            file.write("x")
        with open(path) as file:
            for tries in map(len, file):
                if tries < 3:
                    raise OSError(tries)
                return tries

    assert remotely(flaky, str(tmp_path / "tries"), max_retries=4, retry_exceptions=[OSError]) == 3


def test_tasks_that_start_tasks():
    @ray.remote
    def leaf(i):
        return [j for j in range(i)]

    @ray.remote
    def branch(count):
        return [len(each) for each in ray.get([leaf.remote(i) for i in range(count)])]

    assert ray.get(branch.remote(4)) == [0, 1, 2, 3]


def test_results_in_several_parts():
    def parts(values):
        low, high = [], []
        for value in values:
            (low if value < 5 else high).append(value)
        return low, high

    low, high = ray.remote(num_returns=2)(parts).remote([1, 7, 2, 9])
    assert (ray.get(low), ray.get(high)) == ([1, 2], [7, 9])


def test_references_as_arguments():
    data = ray.put(list(range(100)))

    def total(values):
        result = 0
        for value in values:
            result += value
        return result

    task = ray.remote(total)
    assert ray.get([task.remote(data), task.remote(task_list := ray.put([1]))]) == [4950, 1]
    assert ray.get(task_list) == [1]


def test_wait():
    @ray.remote
    def identity(i):
        for _ in range(i):
            pass
        return i

    pending, found = [identity.remote(i) for i in range(6)], []
    while pending:
        (done,), pending = ray.wait(pending, num_returns=1)
        found.append(ray.get(done))
    assert sorted(found) == [0, 1, 2, 3, 4, 5]


def test_generators():
    @ray.remote
    def squares(count):
        for i in range(count):
            yield i * i

    assert [ray.get(each) for each in squares.remote(5)] == [0, 1, 4, 9, 16]

    @ray.remote
    def delegating(count):
        def inner():
            for i in range(count):
                yield i
            return "end"

        yield (yield from inner())

    assert [ray.get(each) for each in delegating.remote(2)] == [0, 1, "end"]


def test_a_generator_that_fails():
    @ray.remote
    def half():
        for i in range(2):
            yield i
        raise LookupError("no more")

    references = iter(half.remote())
    assert [ray.get(next(references)), ray.get(next(references))] == [0, 1]
    with pytest.raises(LookupError, match="no more"):
        ray.get(next(references))


def test_an_actor():
    @ray.remote
    class Counter:
        def __init__(self, start):
            self._count = start

        def add(self, *values):
            for value in values:
                self._count += value
            return self._count

        @property
        def count(self):
            return self._count

        def get(self):
            return self.count

        def fail(self):
            with contextlib.suppress(KeyError):
                raise ValueError(f"count {self._count}")

        def steps(self):
            for i in range(self._count):
                yield i

        @ray.method(num_returns=2)
        def both(self):
            return self._count, [x for x in range(self._count)]

    counter = Counter.remote(1)
    assert ray.get([counter.add.remote(1, 1), counter.get.remote()]) == [3, 3]
    with pytest.raises(ValueError, match="count 3"):
        ray.get(counter.fail.remote())
    assert [ray.get(each) for each in counter.steps.options(num_returns="streaming").remote()] == [0, 1, 2]
    assert ray.get(list(counter.both.remote())) == [3, [0, 1, 2]]
    ray.kill(counter)
    with pytest.raises(ray.exceptions.RayActorError):
        ray.get(counter.get.remote())


def test_an_actor_that_awaits():
    @ray.remote
    class Mailbox:
        def __init__(self):
            self._waiting = asyncio.Queue()

        async def put(self, *letters):
            for letter in letters:
                await self._waiting.put(letter)

        async def take(self, count):
            return [await self._waiting.get() for _ in range(count)]

        async def stream(self, count):
            for i in range(count):
                await asyncio.sleep(0)
                yield i

    mailbox = Mailbox.remote()
    taken = mailbox.take.remote(3)
    ray.get([mailbox.put.remote("a"), mailbox.put.remote("b", "c")])
    assert sorted(ray.get(taken)) == ["a", "b", "c"]
    assert [ray.get(each) for each in mailbox.stream.remote(2)] == [0, 1]


def test_an_awaiting_driver():
    @ray.remote
    def add(a, b):
        return sum(x for x in (a, b))

    async def main():
        return [await add.remote(1, 2), *await asyncio.gather(*(add.remote(i, i) for i in range(2)))]

    assert asyncio.run(main()) == [3, 0, 2]


def test_actors_that_talk():
    @ray.remote
    class Log:
        def __init__(self):
            self._entries = collections.deque(maxlen=10)

        def write(self, entry):
            self._entries.append(entry)

        def read(self):
            return [entry for entry in self._entries]

    @ray.remote
    class Writer:
        def __init__(self, log, name):
            self._log, self._name = log, name

        def work(self, count):
            for i in range(count):
                ray.get(self._log.write.remote(f"{self._name}{i}"))

    log = Log.remote()
    with contextlib.ExitStack() as stack:
        writers = [Writer.remote(log, name) for name in "ab"]
        for writer in writers:
            stack.callback(ray.kill, writer)
        ray.get([writer.work.remote(2) for writer in writers])
        assert sorted(ray.get(log.read.remote())) == ["a0", "a1", "b0", "b1"]


def test_classes_made_in_the_test():
    class Shape:
        kinds = []

        def __init_subclass__(cls, **options):
            super().__init_subclass__(**options)
            cls.kinds.append(cls.__name__)

        @property
        def area(self):
            return 0

    class Square(Shape):
        def __init__(self, side):
            self.side = side

        @property
        def area(self):
            return super().area + sum(self.side for _ in range(self.side))

        @classmethod
        def all(cls, *sides):
            return [cls(side) for side in sides]

        @staticmethod
        def total(shapes):
            return sum(shape.area for shape in shapes)

    @dataclasses.dataclass
    class Named:
        name: str
        shapes: list = dataclasses.field(default_factory=list)

    def run(count):
        named = Named("n", Square.all(*range(count)))
        return named, Square.total(named.shapes), Shape.kinds

    named, area, kinds = remotely(run, 4)
    assert (type(named), named.name, [type(shape) for shape in named.shapes]) == (Named, "n", [Square] * 4)
    assert (area, set(kinds)) == (14, {"Square"})


def test_decorated_and_partial():
    def twice(function):
        @functools.wraps(function)
        def inner(*args, **named):
            return [function(*args, **named) for _ in range(2)]

        return inner

    @twice
    def power(base, *, exponent=2):
        result = 1
        for _ in range(exponent):
            result *= base
        return result

    assert remotely(power, 3) == [9, 9]
    assert remotely(lambda: functools.partial(power, exponent=3)(2)) == [8, 8]


def test_code_that_came_back():
    def make(n):
        def inner(values):
            return [value + n for value in values]

        return inner

    made = remotely(make, 5)
    assert made([1, 2]) == [6, 7]
    assert remotely(made, [1]) == [6]
    again = cloudpickle.loads(cloudpickle.dumps(made))
    assert again([0]) == [5]
    assert remotely(lambda: again([1])) == [6]


def test_a_pool():
    from ray.util.multiprocessing import Pool

    def work(x):
        return sum(i for i in range(x))

    with Pool(2) as pool:
        assert pool.map(work, range(4)) == [0, 0, 1, 3]


def test_a_group_of_actors():
    from ray.util import ActorPool

    @ray.remote
    class Worker:
        def run(self, value):
            for _ in range(2):
                value *= 2
            return value

    pool = ActorPool([Worker.remote(), Worker.remote()])
    assert list(pool.map(lambda worker, value: worker.run.remote(value), [1, 2, 3])) == [4, 8, 12]


def test_a_module_by_value():
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        assert remotely(lambda: helper([1, 2])) == {1: "1", 2: "2"}
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def helper(values):
    return {value: str(value) for value in values}
