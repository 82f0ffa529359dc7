"""What tests see of the live page, and press on it."""

from __future__ import annotations

import json

GREEN, RED, LIGHT_RED = "rgb(76, 175, 80)", "rgb(211, 47, 47)", "rgb(255, 205, 210)"
GREY, BROWN, BLUE = "rgb(158, 158, 158)", "rgb(121, 85, 72)", "rgb(79, 195, 247)"


def shows(page, words):
    page.value(f"document.body.innerText.includes({json.dumps(words)})")


def colour(page, state):
    """The colour of a state as the browser paints it."""
    return page.now(f"getComputedStyle(document.querySelector('[data-state={state}] .outer')).fill")


def colours(page, **wanted):
    """Wait until a state has its colour, then compare all."""
    name, first = next(iter(wanted.items()))
    page.value(f"getComputedStyle(document.querySelector('[data-state={name}] .outer')).fill === '{first}'")
    assert {state: colour(page, state) for state in wanted} == wanted


def taken(page):
    """The edges that are painted as taken, with their colour."""
    return page.now(
        "[...document.querySelectorAll('.way.taken[data-edge]')].map((way) =>"
        " [way.dataset.edge, getComputedStyle(way.querySelector('path')).stroke])"
    )


def rows(page, where, count):
    """The rows of a table, once there are so many."""
    table = f"[...document.querySelectorAll('{where} tbody tr')].map((row) => row.innerText.split(/\\s*\\t\\s*/))"
    return page.value(f"(() => {{ const rows = {table}; return rows.length === {count} && rows; }})()")


def press(page, label):
    page.click(f"button[aria-label='{label}']:not([disabled])")
