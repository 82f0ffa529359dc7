"""Databases with the results of experiments: damaged files, and values that no run has written."""

from __future__ import annotations

import shutil
import sqlite3

from fuzz.choices import Choices
from fuzz.errors import check_error
from fuzz.files import folder

from mopsus.decentral.experiment.report.figures import compare
from mopsus.decentral.measures.store import Failure, RunKey, Store
from mopsus.model import MopsusError

MEASURES = {
    "comps": 2,
    "verdict": 1,
    "run_len": 10,
    "msg_num": 4,
    "msg_data": 2.5,
    "delay_gap_sum": 3,
    "delay_gap_num": 0,
}
GOOD, DAMAGED = folder() / "good.db", folder() / "damaged.db"
with Store(GOOD) as store:
    keys = [RunKey("s", "a.toml", number, alg) for number in range(3) for alg in ("orch", "migr")]
    store.write([(key, {**MEASURES, "msg_num": number}) for number, key in enumerate(keys)])
    store.write([], [Failure(RunKey("s", "b.toml", 0, "orch"), "it failed")])
    store.claim("title", {"s": "1"})
CONTENT = GOOD.read_bytes()
STRANGE = (None, "", "x", b"\xff", -1, 2**62, 1e308, "1", b"")


def one(data: bytes) -> None:
    choices = Choices(data)
    DAMAGED.with_name("damaged.db-wal").unlink(missing_ok=True)
    DAMAGED.with_name("damaged.db-shm").unlink(missing_ok=True)
    if choices.flag():
        content = bytearray(CONTENT)
        for _ in range(1 + choices.below(6)):
            content[choices.below(len(content))] = choices.byte()
        DAMAGED.write_bytes(content)
    else:
        shutil.copyfile(GOOD, DAMAGED)
        change(choices)
    try:
        read()
    except MopsusError as error:
        check_error(error)


def change(choices: Choices) -> None:
    with sqlite3.connect(DAMAGED) as connection:
        for _ in range(1 + choices.below(4)):
            column = choices.pick(("series", "spec", "trace", "alg", *MEASURES))
            value, row = choices.pick(STRANGE), 1 + choices.below(6)
            try:
                connection.execute(f"UPDATE bench SET {column} = ? WHERE rowid = ?", (value, row))
            except sqlite3.IntegrityError:
                return
    connection.close()


def read() -> None:
    """All that is asked of results."""
    with Store(DAMAGED, must_exist=True) as store:
        store.finished()
        store.failures()
        store.types()
        store.title()
        list(store.select(store.columns()))
        compare(store, ("comps",))
