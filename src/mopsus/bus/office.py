"""All correspondences of one end in one session, and the bus that they go over."""

from __future__ import annotations

from mopsus.bus.mail import Correspondence, bytes_of
from mopsus.bus.messages import BusError
from mopsus.bus.subjects import Bus


class Office:
    """Sends what is written to other ends, named by the subjects that they follow."""

    def __init__(self, session: str, subject: str) -> None:
        self.session = session
        self.subject = subject
        self._ends: dict[str, Correspondence] = {}

    @property
    def unacknowledged(self) -> int:
        """How many messages other ends may not have."""
        return sum(each.unacknowledged for each in self._ends.values())

    def to(self, subject: str) -> Correspondence:
        """What is written to and read from another end."""
        if subject not in self._ends:
            self._ends[subject] = Correspondence(self.session, self.subject)
        return self._ends[subject]

    async def flush(self, bus: Bus, now: float, resend_s: float) -> None:
        """Send what is due. `BusError` if the bus cannot carry a message, which is then not sent again."""
        for subject, end in list(self._ends.items()):
            for frame in end.due(now, resend_s):
                try:
                    await bus.publish(subject, bytes_of(frame))
                except BusError:
                    end.discard(frame.number)
                    raise

    async def send(self, bus: Bus, subject: str, body: bytes) -> None:
        """Send a message once, without a number."""
        await bus.publish(subject, bytes_of(self.to(subject).loose(body)))
