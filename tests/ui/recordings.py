"""Recorded runs to look at: one that is written out, and random ones."""

from __future__ import annotations

from hypothesis import strategies as st

from mopsus.decentral.simulate.recording import Fault, Found, Observed, Recorded, Recording, Sent, Step
from mopsus.decentral.synthesis import from_formula

SWITCH = (False, True, True, True, False)
LAMP = (False, False, True, False, True)


def light():
    """`G(s -> X(l U !s))` by orchestration; a message of the lamp is late, one is doubled, and one is lost."""

    def told(time, delivered):
        text = f"{time}: {'' if LAMP[time - 1] else '!'}l"
        return Sent(time, delivered, "lamp", "main", "Memory", 5 + (not LAMP[time - 1]), 11, text)

    return Recording(
        title="G(s -> X(l U !s))",
        algorithm="orch",
        components={"switch": ["s"], "bulb": ["l"]},
        monitors=[
            Recorded("main", "switch", "orchestrator", from_formula("G(s -> X(l U !s))")),
            Recorded("lamp", "bulb", "forwarder"),
        ],
        rounds=6,
        length=5,
        verdict=False,
        time=4,
        observations=[
            each
            for time in range(1, 6)
            for each in (
                Observed(time, "switch", {"s": SWITCH[time - 1]}),
                Observed(time, "bulb", {"l": LAMP[time - 1]}),
            )
        ],
        steps=[
            step
            for number, (start, end, entries, nodes, states) in enumerate(
                [
                    (0, 1, 2, 1, [0]),
                    (1, 2, 2, 2, [1]),
                    (2, 3, 5, 4, [1, 2]),
                    (2, 4, 8, 7, [1, 2]),
                    (2, 5, 9, 8, [0, 2]),
                ],
                1,
            )
            for step in (Step(number, "main", start, end, entries, nodes, states), Step(number, "lamp"))
        ]
        + [Step(6, "main", 4, 5, 1, 1, [2])],
        messages=[told(1, 2), told(2, 3), told(3, 6), told(4, 5), told(4, 5), told(5, None)],
        findings=[Found(6, "main", 4, False)],
        faults=[
            Fault(2, "partition", ["bulb"]),
            Fault(3, "crash", ["lamp"]),
            Fault(4, "restart", ["lamp"]),
            Fault(5, "heal", ["bulb"]),
        ],
    )


MONITORS = ("m0", "m1", "m2")


@st.composite
def recordings(draw, rounds=8):
    """Random runs of three monitors without automata, with all kinds of things that can happen."""
    numbers = st.integers(1, rounds)
    names = st.sampled_from(MONITORS)
    sent = draw(st.lists(st.tuples(numbers, st.none() | st.integers(1, 4), names, names), max_size=20))
    kinds = st.sampled_from(("crash", "restart", "partition", "heal"))
    return Recording(
        title="random",
        algorithm="orch",
        components={"A": [], "B": []},
        monitors=[Recorded(name, "AB"[number % 2], "python") for number, name in enumerate(MONITORS)],
        rounds=rounds,
        length=rounds,
        observations=sorted(
            draw(st.lists(st.builds(Observed, numbers, st.sampled_from("AB"), st.just({})), max_size=8)),
            key=lambda observed: observed.time,
        ),
        steps=sorted(
            draw(
                st.lists(
                    st.builds(Step, numbers, names, entries=st.integers(0, 9)),
                    max_size=20,
                    unique_by=lambda step: (step.round, step.monitor),
                )
            ),
            key=lambda step: step.round,
        ),
        messages=[
            Sent(when, None if delay is None else when + delay, source, target, "Memory")
            for when, delay, source, target in sorted(sent, key=lambda each: each[0])
        ],
        findings=sorted(
            draw(st.lists(st.builds(Found, numbers, names, numbers, st.booleans()), max_size=4)),
            key=lambda found: found.round,
        ),
        faults=sorted(
            draw(st.lists(st.builds(Fault, numbers, kinds, st.lists(names, max_size=2)), max_size=6)),
            key=lambda fault: fault.round,
        ),
    )
