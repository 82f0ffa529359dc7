"""What all debuggers share."""

from __future__ import annotations

from mopsus.interactive.debugger import shortened


def test_a_stack_that_goes_on_says_so():
    assert shortened(["#0 f", "#1 g", "#2 main"], 3) == ["#0 f", "#1 g", "#2 main"]
    assert shortened(["#0 f", "#1 g", "#2 main"], 2) == ["#0 f", "#1 g", "… the stack goes on"]
