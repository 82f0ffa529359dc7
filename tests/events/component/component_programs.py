"""Small random programs of threads, tasks and processes, as data, and what runs them."""

from __future__ import annotations

import asyncio
import multiprocessing
import queue
import threading
from dataclasses import dataclass

from hypothesis import strategies as st

MODULE = __name__


@dataclass(frozen=True)
class Program:
    """By component, what it does; the first is where it begins. Children have larger numbers than their parents."""

    components: tuple[tuple[tuple[str, int, int], ...], ...]


@st.composite
def programs(draw, kinds=("thread", "task", "process"), largest=5) -> Program:
    """Programs that end: nobody waits for a message that does not come."""
    count = draw(st.integers(1, largest))
    components: list[list[tuple[str, int, int]]] = []
    for _ in range(count):
        actions = st.tuples(st.sampled_from(["send", "recv", "recv"]), st.integers(0, 1), st.integers(0, 3))
        components.append(draw(st.lists(actions, max_size=5)))
        if draw(st.integers(0, 5)) == 0:
            components[-1].append(("raise", 0, 0))
    for child in range(1, count):
        parent = components[draw(st.integers(0, child - 1))]
        parent.insert(draw(st.integers(0, len(parent))), (draw(st.sampled_from(kinds)), child, 0))
    return Program(tuple(map(tuple, components)))


class Boxes:
    """Two queues for threads and tasks, and two that also reach other processes."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self.near = [queue.Queue(), queue.SimpleQueue()]
        self.far = [context.Queue(), context.SimpleQueue()]

    def send(self, box: int, value: int) -> None:
        self.near[box].put(("v", value))
        if box:
            self.far[1].put(("w", value))

    def recv(self, box: int) -> None:
        try:
            self.near[box].get_nowait()
        except queue.Empty:
            if box and not self.far[1].empty():
                self._take_far()

    def _take_far(self) -> None:
        lock = threading.Lock()
        with lock:
            if self.far[1]._poll(0):
                self.far[1].get()


def run(program: Program) -> None:
    """Run a program to its end, from this thread."""
    thread = threading.Thread(target=act, args=(0, program, Boxes()))
    thread.start()
    thread.join()


def act(number: int, program: Program, boxes: Boxes) -> None:
    """What a thread or process runs."""
    children: list[threading.Thread | multiprocessing.Process] = []
    try:
        for kind, one, value in program.components[number]:
            if kind == "thread":
                children.append(threading.Thread(target=act, args=(one, program, boxes)))
                children[-1].start()
            elif kind == "process":
                context = multiprocessing.get_context("fork")
                children.append(context.Process(target=act, args=(one, program, boxes)))
                children[-1].start()
            elif kind == "task":
                asyncio.run(act_as_task(one, program, boxes))
            else:
                _do(kind, one, value, boxes)
    finally:
        for child in children:
            child.join()


async def act_as_task(number: int, program: Program, boxes: Boxes) -> None:
    """What a task runs."""
    tasks = []
    for kind, one, value in program.components[number]:
        await asyncio.sleep(0)
        if kind == "task":
            tasks.append(asyncio.create_task(act_as_task(one, program, boxes)))
        elif kind in ("thread", "process"):
            await asyncio.to_thread(act, one, program, boxes)
        else:
            _do(kind, one, value, boxes)
    await asyncio.gather(*tasks, return_exceptions=True)


def _do(kind: str, box: int, value: int, boxes: Boxes) -> None:
    if kind == "raise":
        raise ValueError("as it should")
    if kind == "send":
        boxes.send(box, value)
    else:
        boxes.recv(box)
