"""Actors of pykka as components."""

import logging
import threading

import pykka
import pytest
from events.component.component_support import heard

pytestmark = pytest.mark.interpreter


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level(logging.CRITICAL, "pykka")
    yield
    pykka.ActorRegistry.stop_all()


class Adder(pykka.ThreadingActor):
    def __init__(self, start, other=None):
        super().__init__()
        self.total = start

    def on_receive(self, message):
        if message == "fail":
            raise ValueError("no")
        self.total += message
        return self.total

    def double(self):
        return 2 * self.total


class Stubborn(pykka.ThreadingActor):
    def on_start(self):
        raise RuntimeError("never")


def wait_for(reference):
    while any(thread.name.startswith(reference.actor_class.__name__) for thread in threading.enumerate()):
        pass


def test_an_actor_and_its_messages():
    with heard() as log:
        adder = Adder.start(3)
        adder.tell(1)
        assert adder.ask(2) == 6
        future = adder.ask(1, block=False)
        assert future.get() == 7
        assert future.get() == 7
        adder.stop()
        wait_for(adder)
    assert log.of("Adder") == [
        "init main Adder(3)",
        "recv 1",
        "recv 2",
        "send main 6",
        "recv 1",
        "send main 7",
        "exit normal",
    ]
    assert log.of("main") == [
        "fork Adder Adder(3)",
        "send Adder 1",
        "send Adder 2",
        "recv 6",
        "send Adder 1",
        "recv 7",
    ]


def test_errors():
    with heard() as log:
        adder = Adder.start(0)
        with pytest.raises(ValueError, match="no"):
            adder.ask("fail")
        adder.tell("fail")
        wait_for(adder)
        with pytest.raises(pykka.ActorDeadError):
            adder.tell(1)
        with pytest.raises(pykka.ActorDeadError):
            adder.ask(1)
    error = "('error', 'ValueError', 'no')"
    assert log.of("Adder")[1:] == ["recv fail", f"send main {error}", "recv fail", f"exit {error}"]
    assert log.of("main")[1:] == ["send Adder fail", f"recv {error}", "send Adder fail"]


def test_an_actor_that_does_not_get_going():
    with heard() as log:
        wait_for(Stubborn.start())
    assert log.of("Stubborn") == ["init main Stubborn()", "exit ('error', 'RuntimeError', 'never')"]


def test_calls_through_a_proxy_are_messages_and_attributes_are_not():
    with heard() as log:
        adder = Adder.start(4, other=None)
        proxy = adder.proxy()
        assert proxy.total.get() == 4
        proxy.total = 5
        assert proxy.double().get() == 10
        adder.stop()
        wait_for(adder)
    kinds = [words.split()[0] for words in log.of("Adder")]
    assert kinds == ["init", "recv", "send", "exit"]
    assert log.of("main")[0] == "fork Adder Adder(4, {'other': None})"


def test_references_in_messages_are_addresses():
    with heard() as log:
        adder = Adder.start(0)
        other = Adder.start(0, other=adder)
        pid = log.pid("Adder")
        adder.stop()
        other.stop()
    forks = [event for event in log.events if event.kind == "fork"]
    assert forks[1].data.keywords == {"other": pid}


def test_the_program_sees_no_difference():
    classes = (pykka.Actor, pykka.ThreadingActor, pykka.ActorRef, pykka.ThreadingFuture)
    before = [dict(vars(each)) for each in classes]
    with heard():
        adder = Adder.start(1)
        assert adder.ask(1) == 2
        adder.stop()
        wait_for(adder)
    assert before == [dict(vars(each)) for each in classes]
