"""Stage 4: where the processes of a program and its monitors meet: a folder, of nobody else's, in shared memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mopsus import _core
from mopsus.events.component.outline.messages import OutlineError

FOLDER = "MOPSUS_OUTLINE"
"""The environment variable that has the folder of the session."""
_SHARED = "/dev/shm"
_ENVELOPES = "envelopes"
_MAIN = "main"
_MAKER = "maker"


@dataclass(frozen=True, slots=True)
class Session:
    """The files of a program that can be watched from outside."""

    folder: str

    @staticmethod
    def create(*, envelopes: bool = False) -> Session:
        """A new one, for a program that is about to start; with `envelopes`, it tells of a send before its recv."""
        for session in _all():
            if session.is_abandoned():
                session.remove()
        session = Session(tempfile.mkdtemp(prefix=_prefix(), dir=_base()))
        session._note(_MAKER, os.getpid())
        _core.Board.create(session.board)
        if envelopes:
            Path(session.folder, _ENVELOPES).touch()
        return session

    @staticmethod
    def find(pid: int) -> Session:
        """That of a running program, by the number of its first process."""
        for session in _all():
            if session.main == pid and is_running(pid):
                return session
        hint = "start it by `mopsus component start -- PROGRAM`"
        raise OutlineError(f"process {pid} is no program that can be watched", hint=hint, code="OUTLINE-001")

    @property
    def board(self) -> str:
        """The file that all processes look at."""
        return os.path.join(self.folder, "board")

    @property
    def envelopes(self) -> bool:
        """Is a send told before the recv of its message?"""
        return Path(self.folder, _ENVELOPES).exists()

    @property
    def main(self) -> int | None:
        """The number of the program's first process, if it has begun."""
        return self._noted(_MAIN)

    def set_main(self, pid: int) -> None:
        """Say which process is the program's first."""
        self._note(_MAIN, pid)

    def is_abandoned(self) -> bool:
        """Was the program killed, or before it began who was to start it, and does nobody still read what it told?"""
        main = self.main
        if main is None:
            main = self._noted(_MAKER)
        try:
            return main is not None and not is_running(main) and not _core.Board.open(self.board).attended()
        except OSError:  # somebody else removes it right now
            return False

    def _note(self, role: str, pid: int) -> None:
        Path(self.folder, f"{role}.{pid}").touch()

    def _noted(self, role: str) -> int | None:
        return next((int(path.suffix[1:]) for path in Path(self.folder).glob(f"{role}.*")), None)

    def new_ring(self, generation: int) -> str:
        """The name of a ring of this process for a reader, while it is made; `publish` gives it its own."""
        return os.path.join(self.folder, f"{generation}-{os.getpid()}-{os.urandom(4).hex()}.new")

    def publish(self, ring: str) -> None:
        """A ring is ready to be read."""
        os.rename(ring, ring.removesuffix(".new") + ".ring")

    def rings(self, generation: int | None = None) -> list[str]:
        """The rings that are ready to be read, as files: all, or those for one reader."""
        return [str(path) for path in Path(self.folder).glob(f"{'*' if generation is None else generation}-*.ring")]

    def spill(self, ring: str) -> str:
        """The file for what does not fit into a ring. Not in memory."""
        name = f"{os.path.basename(self.folder)}-{Path(ring).stem}.spill"
        return os.path.join(tempfile.gettempdir(), name)

    def remove(self) -> None:
        """Nobody will need it any more."""
        for ring in self.rings():
            with suppress(OSError):
                os.unlink(self.spill(ring))
        shutil.rmtree(self.folder, ignore_errors=True)


def is_running(pid: int) -> bool:
    """Is there a process of that number that has not ended?"""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in "ZX"


def _base() -> str:
    return _SHARED if os.access(_SHARED, os.W_OK) else tempfile.gettempdir()


def _prefix() -> str:
    return f"mopsus-{os.getuid()}-"


def _all() -> Iterator[Session]:
    """All that are ours; what another user has put there is not looked at."""
    for path in Path(_base()).glob(_prefix() + "*"):
        if path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid():
            yield Session(str(path))
