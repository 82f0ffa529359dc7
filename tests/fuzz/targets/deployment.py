"""What a host is told over the bus, and what it finds in a journal: bytes, or messages with odd contents.

Whatever comes, a run goes on, or tells its client that it cannot. A message that says so with the name of a Python
exception was not foreseen, unless a monitor wrote it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from fuzz.choices import Choices
from fuzz.errors import check_error
from fuzz.files import file_of, folder

from mopsus.bus import BusError
from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Task, set_up
from mopsus.decentral.deploy.journal import MAGIC, Arrived, Exhausted, JournalError, Record, Turn, read_journal
from mopsus.decentral.deploy.messages import (
    Deploy,
    Ended,
    Placed,
    Post,
    Settings,
    Start,
    Stop,
    decode_body,
    encode_body,
    subject_of_host,
)
from mopsus.decentral.deploy.run import Run
from mopsus.decentral.load import load_specification

SPEC = b'[components]\nswitch = ["s"]\nbulb = ["l"]\n[monitors]\ncheck = "G(s -> X(l U !s))"\n'
CLIENT = "mopsus.client.x"
LOADED = load_specification(file_of("deployment.toml", SPEC))
assert LOADED.system is not None
COMPONENTS = tuple(Placed(name, tuple(seen), ()) for name, seen in LOADED.system.components.items())


def deployed(algorithm: str) -> dict[str, Any]:
    parts = set_up(load_algorithm(algorithm), Task(LOADED.specification, LOADED.system, {}))
    hosts = {part.name: "h" for part in parts}
    body = Deploy(CLIENT, algorithm, COMPONENTS, tuple(parts), hosts, Settings())
    plain: dict[str, Any] = msgspec.msgpack.decode(encode_body(body))
    return plain


DEPLOYED = [deployed(name) for name in ("orch", "migr", "migrr", "chor")]
NAMES = tuple(each["name"] for each in DEPLOYED[0]["parts"])


def one(data: bytes) -> None:
    choices = Choices(data)
    way = choices.below(4)
    if way == 0:
        decode(choices.rest())
    elif way == 1:
        journal(choices.rest())
    else:
        play(choices)


def decode(data: bytes) -> None:
    try:
        decode_body(data)
    except BusError as error:
        check_error(error)


def journal(data: bytes) -> None:
    path = folder() / "fuzzed.journal"
    path.write_bytes(MAGIC + data if data[:1] < b"\x80" else data)
    try:
        read_journal(path)
    except JournalError as error:
        check_error(error)


def play(choices: Choices) -> None:
    plain = choices.pick(DEPLOYED)
    if choices.flag():
        plain = choices.damaged(plain, 2)
    try:
        body = msgspec.msgpack.encode(plain)
    except (OverflowError, UnicodeEncodeError):  # no carrier could bring this
        return
    run = Run("x", "h")
    records: list[Record] = [Arrived(CLIENT, 1, body)]
    if choices.below(8):
        records.append(Arrived(CLIENT, 2, encode_body(Start())))
    for number in range(3, 3 + choices.below(12)):
        records.append(record(choices, number))
    records.append(Arrived(CLIENT, 99, encode_body(Stop())))
    for each in records:
        run.take(each)
        run.status(1)
        list(run.waiting)
    if run.deployed is not None:
        for frame in run.office.to(run.deployed.client).due(0.0, 1.0):
            if frame.body:
                decode_body(frame.body)


def record(choices: Choices, number: int) -> Record:
    what = choices.below(7)
    if what < 3:
        component = choices.pick(("switch", "bulb"))
        name = "s" if component == "switch" else "l"
        return Turn(component, {name: choices.flag()} if choices.flag() else choices.pick(({}, None)))
    if what == 3:
        return Exhausted(choices.pick(("switch", "bulb")))
    if what == 4:
        post = Post(choices.pick((*NAMES, "?")), choices.pick((*NAMES, "?")), choices.piece(40), choices.byte())
        return Arrived(subject_of_host("h"), number, encode_body(post))
    if what == 5:
        return Arrived(CLIENT, number, encode_body(Ended()))
    return Arrived(CLIENT, number, choices.piece(20))
