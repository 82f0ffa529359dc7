"""Pictures of debugging sessions: a shop whose tickets give their goods back, one moment after the other."""

from __future__ import annotations

from mopsus.interactive.live.picture import (
    Automaton,
    Course,
    Happened,
    Monitor,
    Node,
    Now,
    Picture,
    Place,
    Program,
    Said,
    Saved,
    Slice,
    Source,
)
from mopsus.model import Acceptance
from mopsus.model.drawing import Edge

YES, NO = Acceptance.ACCEPTING, Acceptance.NON_ACCEPTING

SHOP = Automaton(
    property="efsm",
    nodes=tuple(
        Node(name, acceptance.value, acceptance)
        for name, acceptance in [
            ("init", YES),
            ("held", YES),
            ("back", YES),
            ("sold", YES),
            ("back_twice", NO),
            ("given_away", NO),
        ]
    ),
    edges=(
        Edge(0, "Shop_reserve_after [ticket is not None]", 1),
        Edge(1, "Shop_pay", 3),
        Edge(1, "Shop_release", 2),
        Edge(2, "Shop_release", 4),
        Edge(3, "Shop_release", 5),
    ),
    initial=0,
    summary="6 states, starts in init, reports back_twice, given_away",
)

DOOR = Automaton(
    property="fsm",
    nodes=(Node("open"), Node("shut")),
    edges=(Edge(0, "close", 1), Edge(1, "open", 0), Edge(1, "knock", 1), Edge(1, "wait", 1)),
    initial=0,
)

LINES = (
    "    def release(self, ticket: Ticket) -> None:",
    '        """Goods go back to the shelf."""',
    "        self.stock[ticket.goods] += ticket.amount",
    "",
    "    def cancel(self, ticket: Ticket) -> None:",
    "        if ticket.amount < 1 and not ticket.paid: ...",
)


def ticket(number, node, previous=None, edge=None, **environment):
    """A slice of the shop's monitor."""
    state = SHOP.nodes[node].name
    return Slice("efsm", {"ticket": f"Ticket#{number}"}, state, node, previous, edge, environment)


def shop(slices, now, *, verdicts=(), slice_count=None, event_count=0):
    """The shop's monitor."""
    count = len(slices) if slice_count is None else slice_count
    return Monitor(1, "shop", (SHOP,), (now,), tuple(slices), count, event_count, tuple(verdicts), len(verdicts))


def door():
    """A monitor without parameters, stepped inside of the program."""
    now = Now("fsm", {1: 1}, (1,), (2,))
    return Monitor(2, "door", (DOOR,), (now,), (Slice("fsm", {}, "shut", 1, 1, 2),), 1, 70_000, inside=True)


def event(number, name, who):
    """`Shop_release(ticket=Ticket#3)`."""
    place = Place("/home/iason/shop.py", 40, "Shop.release", "1")
    return Happened(number, 1, name, {"ticket": f"Ticket#{who}"}, place, 0.01 * number)


def waiting(serial=1):
    """Nothing has happened yet."""
    return Picture(serial, "python", Program(Course.WAITING, "shop.py"), monitors=(shop([], Now("efsm", {})),))


def running(serial=2):
    """Three tickets: two are held, one is sold."""
    slices = [ticket(3, 1, 0, 0, hour="9"), ticket(1, 3, 1, 1), ticket(2, 1, 0, 0)]
    monitor = shop(slices, Now("efsm", {1: 2, 3: 1}, (0,), (0,)), event_count=4)
    happened = (event(1, "Shop_reserve_after", 1), event(2, "Shop_pay", 1), event(3, "Shop_reserve_after", 3))
    return Picture(serial, "python", Program(Course.RUNNING, "shop.py"), None, (monitor, door()), happened, 3)


def stopped(serial=3):
    """A ticket was given back twice: its verdict, where the program stands, and a checkpoint from before."""
    place = Place("/home/iason/shop.py", 40, "Shop.release", "1")
    explanation = (
        "     1. Shop_reserve_after(ticket=Ticket#3)  at shop.py:38",
        "   2-3. Shop_release(ticket=Ticket#3)",
    )
    said = Said(
        "shop: back_twice for ticket=Ticket#3 <b>", True, "back_twice", {"ticket": "Ticket#3"}, place, explanation
    )
    slices = [ticket(3, 4, 2, 3, hour="11"), ticket(1, 3, 1, 1), ticket(2, 1, 0, 0)]
    monitor = shop(slices, Now("efsm", {1: 1, 3: 1, 4: 1}, (2,), (3,)), verdicts=[said], event_count=6)
    happened = (event(4, "Shop_release", 3), event(5, "Shop_release", 3))
    reason = "shop: back_twice for ticket=Ticket#3"
    return Picture(
        serial,
        "python",
        Program(Course.STOPPED, "shop.py", reason, explanation, place),
        Source("/home/iason/shop.py", 40, LINES, 40),
        (monitor, door()),
        happened,
        5,
        (Saved(0, place, "shop: init, sold, back, held"),),
    )


def ended(serial=4):
    """All is over."""
    before = stopped(serial)
    return Picture(
        serial, "python", Program(Course.ENDED, "shop.py", status=0), None, before.monitors, before.events, 5
    )


def crowd(serial=5, listed=200, count=12_345):
    """Very many slices, of which some are listed."""
    slices = [ticket(number, number % 4, None, None) for number in range(listed)]
    quarter = count // 4
    monitor = shop(slices, Now("efsm", {0: quarter, 1: quarter, 2: quarter, 3: count - 3 * quarter}), slice_count=count)
    return Picture(serial, "python", Program(Course.RUNNING, "shop.py"), None, (monitor,))
