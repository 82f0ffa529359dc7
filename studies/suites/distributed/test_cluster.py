"""Work for a cluster of processes on this machine, made in the test, so that it goes there by value."""

import asyncio
import contextlib
import dataclasses
import functools
import operator
import os

import dask
import pytest
from dask import bag
from distributed import Client, LocalCluster, Queue, Variable, as_completed, get_worker, wait


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def of_the_module(values):
    result = 0
    for value in values:
        result += value
    return result


def test_a_function_of_the_module(client):
    assert client.submit(of_the_module, [1, 2]).result() == 3


def test_workers_are_processes(client):
    assert len({os.getpid(), *client.run(os.getpid).values(), *client.run(lambda: os.getpid()).values()}) == 3


def test_loops_and_comprehensions(client):
    def run(count):
        odd = []
        for x in range(count):
            if x % 2:
                odd.append(x)
        return odd, {x: [y for y in range(x)] for x in odd}, sum(x for x in odd)

    assert client.submit(run, 4).result() == ([1, 3], {1: [0], 3: [0, 1, 2]}, 4)


def test_closures_and_generators(client):
    factor = 3

    def scaled(values):
        for value in values:
            yield value * factor

    assert client.submit(lambda values: list(scaled(values)), [1, 2]).result() == [3, 6]


def test_with(client, tmp_path):
    @contextlib.contextmanager
    def scope(log):
        log.append("in")
        yield
        log.append("out")

    def run(path):
        log = []
        with scope(log), open(path, "w") as file:
            for i in range(3):
                file.write(f"{i}\n")
        with open(path) as file:
            return log, [line for line in file]

    assert client.submit(run, str(tmp_path / "f")).result() == (["in", "out"], ["0\n", "1\n", "2\n"])


def test_coroutines(client):
    async def double(x):
        await asyncio.sleep(0)
        return 2 * x

    async def run(count):
        async def numbers():
            for i in range(count):
                yield await double(i)

        return [number async for number in numbers()] + await asyncio.gather(double(10), double(20))

    assert client.submit(run, 3).result() == [0, 2, 4, 20, 40]


def test_map_and_as_completed(client):
    def collatz(number):
        steps = 0
        while number != 1:
            number = number // 2 if number % 2 == 0 else 3 * number + 1
            steps += 1
        return steps

    futures = client.map(collatz, [1, 2, 3, 6, 7])
    assert client.gather(futures) == [0, 1, 7, 8, 16]
    assert sorted(future.result() for future in as_completed(futures)) == [0, 1, 7, 8, 16]


def test_exceptions(client):
    class Refused(Exception):
        pass

    def fail(values):
        for value in values:
            try:
                {}[value]
            except KeyError as error:
                raise Refused(value) from error

    future = client.submit(fail, ["a"])
    wait(future)
    assert future.status == "error"
    with pytest.raises(Refused, match="a"):
        future.result()
    assert isinstance(future.exception().__cause__, KeyError)


def test_futures_as_arguments(client):
    def each(values):
        return [value + 1 for value in values]

    first = client.submit(each, [1, 2])
    second = client.submit(each, first)
    third = client.submit(functools.reduce, operator.add, second)
    assert third.result() == 7


def test_classes_made_in_the_test(client):
    @dataclasses.dataclass(order=True)
    class Item:
        name: str
        weights: list

        @property
        def weight(self):
            return sum(weight for weight in self.weights)

        @classmethod
        def of(cls, name, *weights):
            return cls(name, [weight for weight in weights])

        def __add__(self, other):
            return Item(self.name + other.name, [*self.weights, *other.weights])

    def run(names):
        item = Item.of("")
        for name in names:
            item += Item.of(name, len(name))
        return item

    result = client.submit(run, ["a", "bc"]).result()
    assert (result, result.weight) == (Item("abc", [1, 2]), 3)


def test_an_actor(client):
    class Counter:
        count = 0

        def add(self, *values):
            for value in values:
                self.count += value
            return self.count

    counter = client.submit(Counter, actor=True).result()
    assert counter.add(1, 2).result() == 3
    assert counter.count == 3


def test_delayed(client):
    @dask.delayed
    def part(i):
        return [j for j in range(i)]

    @dask.delayed
    def join(parts):
        result = []
        for each in parts:
            result.extend(each)
        return result

    assert join([part(i) for i in range(4)]).compute() == [0, 0, 1, 0, 1, 2]


def test_a_bag(client):
    def words(line):
        for word in line.split():
            yield word.lower()

    lines = bag.from_sequence(["A b", "b c", "a"], npartitions=2)
    counted = lines.map(lambda line: list(words(line))).flatten().frequencies()
    assert dict(counted.compute(scheduler=client)) == {"a": 2, "b": 2, "c": 1}


def test_tasks_that_submit_tasks(client):
    def fibonacci(n):
        from distributed import worker_client

        if n < 2:
            return n
        with worker_client() as inner:
            return sum(each for each in inner.gather([inner.submit(fibonacci, n - i) for i in (1, 2)]))

    assert client.submit(fibonacci, 4).result() == 3


def test_queues_and_variables(client):
    queue, variable = Queue("letters", client=client), Variable("last", client=client)

    def write(count):
        worker = get_worker()
        for i in range(count):
            queue.put(i)
        variable.set(count)
        return bool(worker.address)

    assert client.submit(write, 3).result()
    assert ([queue.get() for _ in range(3)], variable.get()) == ([0, 1, 2], 3)


def test_scatter(client):
    data = client.scatter({"a": [1, 2], "b": [3]}, direct=False)

    def lengths(found):
        return {key: len(values) for key, values in found.items()} if isinstance(found, dict) else len(found)

    assert {key: client.submit(lengths, each).result() for key, each in data.items()} == {"a": 2, "b": 1}


def test_a_client_that_awaits(client):
    async def main():
        async with Client(client.scheduler.address, asynchronous=True) as mine:
            futures = mine.map(lambda x: [i for i in range(x)], range(3))
            return [await future for future in futures]

    assert asyncio.run(main()) == [[], [0], [0, 1]]
