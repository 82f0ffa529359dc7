"""What hosts were given in a run, by their journals: what their own components observed, what others sent, no more."""

from __future__ import annotations

from mopsus.decentral.deploy.journal import Arrived, Turn, read_journal
from mopsus.decentral.deploy.messages import Deploy, Post, decode_body, subject_of_host
from mopsus.decentral.deploy.run import Run


class Audit:
    """The journals of all hosts of one run."""

    def __init__(self, machines, session):
        self.records = {each.name: read_journal(each.journal(session)) for each in machines.values()}
        self.session = session

    def check(self, traces):
        """`AssertionError` if a monitor knew what it cannot have known."""
        sent = {host: self._sent(host) for host in self.records}
        for host, records in self.records.items():
            (deployed,) = (body for body in self._bodies(records) if isinstance(body, Deploy))
            places = {component.name for component in deployed.components}
            assert {part.place for part in deployed.parts} <= places
            for place in places:
                observed = [each.event for each in records if isinstance(each, Turn) and each.component == place]
                events = [event for event in observed if event is not None]
                assert events == list(traces[place][: len(events)]), f"'{place}' observed what did not happen"
            for record in records:
                if isinstance(record, Arrived) and isinstance(decode_body(record.body), Post):
                    known = sent[self._host(record.sender)].get((host, record.number))
                    assert known == record.body, f"'{host}' was told what nobody sent"

    def _bodies(self, records):
        return [decode_body(each.body) for each in records if isinstance(each, Arrived)]

    def _host(self, subject):
        (host,) = (name for name in self.records if subject_of_host(name) == subject)
        return host

    def _sent(self, host):
        """All that the monitors of a host sent to others: what follows from what they were given."""
        run = Run(self.session, host)
        for record in self.records[host]:
            run.take(record)
        return {
            (other, number): body
            for other in self.records
            for number, body in run.office.to(subject_of_host(other))._kept.items()  # as nothing was acknowledged
        }
