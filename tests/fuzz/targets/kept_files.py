"""What is kept in the user's cache folder: compiled contracts and rewritten code.

A damaged file counts as absent. So does one whose checksum is right and whose content is not what belongs there; of
such a file nothing is run.
"""

from __future__ import annotations

import importlib.util
import marshal
import shutil
import sys
from pathlib import Path
from types import CodeType

from fuzz.choices import Choices
from fuzz.files import folder

from mopsus.contracts.compiled import CompiledContracts, _plain
from mopsus.events.weave.cache import CodeCache
from mopsus.events.weave.sites import Place, Rewritten
from mopsus.logics import CompiledSpec, compile_spec
from mopsus.spec import parse_file

TEXT = "Doors(d: int) {\n  event open(d)\n  event close(d)\n  ere : (open close)*\n  @fail { x = d }\n}\n"
READ = parse_file(TEXT, "doors.mop")
COMPILED = compile_spec(READ.specs["Doors"], READ.source)
KEY = ("doors.mop", TEXT.encode())
CODE = compile("x = 1\ndef f():\n    return x\n", "a.py", "exec")
MADE = Rewritten((Place("attribute", "x"),), CODE, marshal.dumps(CODE))
STAMPED = ("a.py", "plan", 5, 6)


def fresh(name: str) -> Path:
    shutil.rmtree(folder() / name, ignore_errors=True)
    (folder() / name).mkdir(mode=0o700)
    return folder() / name


sys.dont_write_bytecode = False  # atheris sets it, and then nothing is kept
CONTRACTS = CompiledContracts(fresh("contracts"))
CONTRACTS.store(*KEY, COMPILED)
CODES = CodeCache(fresh("code"))
CODES.store(*STAMPED, MADE)
(CONTRACT,) = (folder() / "contracts").iterdir()
(REWRITTEN,) = (folder() / "code").iterdir()
FILES = {CONTRACT: CONTRACT.read_bytes(), REWRITTEN: REWRITTEN.read_bytes()}


def one(data: bytes) -> None:
    choices = Choices(data)
    path = choices.pick(list(FILES))
    way = choices.below(3)
    if way == 0:
        content = choices.rest()
    elif way == 1:
        changed = bytearray(FILES[path])
        for _ in range(1 + choices.below(4)):
            changed[choices.below(len(changed))] ^= 1 << choices.below(8)
        content = bytes(changed[: choices.below(len(changed)) if choices.flag() else None])
    else:
        content = summed(marshal.dumps(wrong(choices, path)))
    path.write_bytes(content)
    if path is CONTRACT:
        found = CONTRACTS.load(*KEY)
        assert found is None or isinstance(found, CompiledSpec)
        assert way == 2 or found is None or found == COMPILED
    else:
        made = CODES.load(*STAMPED)
        assert made is None or isinstance(made.code, CodeType)
        assert made is None or isinstance(made.original, bytes)
        assert made is None or all(isinstance(text, str) for place in made.places for text in place)
        assert way == 2 or made is None or made.code == CODE


def wrong(choices: Choices, path: Path) -> object:
    """Content that is not what belongs there, or is by chance."""
    if path is CONTRACT:
        return choices.damaged(_plain(COMPILED))
    return choices.damaged(["5.6", [list(each) for each in MADE.places], CODE, MADE.original])


def summed(payload: bytes) -> bytes:
    return importlib.util.source_hash(payload) + payload
