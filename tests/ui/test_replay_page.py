"""The page of a recorded run, in a real browser, served by the real command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from ending import end_kindly
from ui.browser import chromium
from ui.recordings import light

from mopsus.decentral.simulate.recording import save_recording


@contextmanager
def viewed(recording, folder):
    """The address of the page of a recording."""
    save_recording(folder / "run.json", recording)
    process = subprocess.Popen(
        [sys.executable, "-m", "mopsus", "simulate", "view", "run.json", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.stderr.read()
        yield address
    finally:
        complaints = end_kindly(process)
    assert not complaints, complaints
    assert os.listdir(folder) == ["run.json"]  # it leaves nothing behind


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with viewed(light(), tmp_path_factory.mktemp("run")) as address:
        yield address


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture
def page(address, browser):
    """The page as it is at first."""
    browser.open(address)
    shows(browser, "Round 0 of 6")
    yield browser
    assert browser.problems == []


def shows(page, words):
    page.value(f"document.body.innerText.includes({json.dumps(words)})")


def press(page, label):
    page.click(f"button[aria-label^='{label}']")


def rows(page, count):
    """The rows of the table of messages, once there are so many."""
    table = "[...document.querySelectorAll('tbody tr')].map((row) => row.innerText.split(/\\s*\\t\\s*/))"
    return page.value(f"(() => {{ const rows = {table}; return rows.length === {count} && rows; }})()")


def test_a_run_is_gone_through_with_buttons_keys_and_the_slider(page):
    press(page, "a round on")
    shows(page, "Round 1 of 6")
    page.key("ArrowRight", 39)
    shows(page, "Round 2 of 6")
    press(page, "a round back")
    shows(page, "Round 1 of 6")
    press(page, "to the next verdict or fault")
    shows(page, "Round 2 of 6")
    page.key("End", 35)
    shows(page, "Round 6 of 6")
    press(page, "to the beginning")
    shows(page, "Round 0 of 6")
    page.key("n", 78, "n")
    shows(page, "Round 2 of 6")
    press(page, "to the end")
    shows(page, "Round 6 of 6")
    page.click(".q-slider__track-container", x=0.5)
    shows(page, "Round 3 of 6")


def test_a_run_is_played_to_its_end(page):
    press(page, "play or stop")
    shows(page, "pause")  # the name of the icon
    shows(page, "Round 6 of 6")
    shows(page, "play_arrow")


def test_the_verdict_is_there_when_it_was_found(page):
    assert page.value("document.querySelector('.m-verdict').innerText") == "?"
    press(page, "to the end")
    shows(page, "false at timestamp 4, found by main in round 6")
    assert page.now("document.querySelector('[data-monitor=main] .found-false').textContent") == "false"


def test_messages_are_on_their_way_arrive_or_are_lost(page):
    page.key("ArrowRight", 39)
    assert rows(page, 1) == [["on its way", "Memory", "lamp", "main", "1: !l", "6", "11"]]
    for _ in range(4):
        page.key("ArrowRight", 39)
    shows(page, "Round 5 of 6")
    assert [row[0] for row in rows(page, 4)] == ["arrived", "arrived", "lost", "on its way"]
    drawn = "[...document.querySelectorAll('.message')].map((each) => each.classList[1])"
    assert sorted(page.now(drawn)) == ["arrived", "flying", "lost"]


def test_faults_are_marked(page):
    for _ in range(3):
        page.key("ArrowRight", 39)
    page.value("document.querySelector('.down[data-monitor=lamp]')")
    page.value("document.querySelector('.apart[data-component=bulb]')")
    press(page, "to the end")
    page.value("!document.querySelector('.down, .apart')")


def test_the_automaton_of_the_chosen_monitor_is_drawn_with_its_states(page):
    marked = """[...document.querySelectorAll('.m-automaton g.node')]
        .filter((each) => getComputedStyle(each.querySelector('.basic') ?? each).fill === 'rgb(77, 182, 172)')
        .map((each) => each.textContent.trim())"""
    for _ in range(3):
        page.key("ArrowRight", 39)
    shows(page, "In q1 or q2.")
    shows(page, "State known up to timestamp 2, encoded up to 3: 5 entries, 4 nodes.")
    found = page.value(f"(() => {{ const found = {marked}; return found.length === 2 && found; }})()")
    assert found == ["q1 [?]", "q2 [false]"]
    width = "document.querySelector('.m-automaton svg').getBoundingClientRect().width"
    small = page.now(width)
    page.click(".m-automaton")
    assert page.value(f"{width} > {small} && {width}") > 1.5 * small
    page.click(".m-automaton")
    page.value(f"{width} === {small}")
    page.click("[data-monitor=lamp]")
    shows(page, "It has no automaton.")
    page.value("document.querySelector('.chosen[data-monitor=lamp]')")


def test_growth_is_drawn(page):
    assert page.value("document.querySelector('.m-growth canvas, .m-growth svg').getBoundingClientRect().height") > 100


def test_nothing_is_loaded_from_elsewhere(page, address):
    own = address.partition("?")[0]
    assert page.requests
    assert [url for url in page.requests if not url.startswith((own, "data:", "blob:", "about:"))] == []


def test_the_token_is_not_left_in_the_address(page, address):
    assert page.now("location.href") == address.partition("?")[0]
    assert "token" not in str(page.history())


def test_the_page_comes_back_when_it_is_loaded_anew(page, address):
    page.open(address.partition("?")[0])
    shows(page, "Round 0 of 6")


def test_who_has_no_token_sees_a_doorstep(address):
    with urllib.request.urlopen(address.partition("?")[0]) as answer:
        text = answer.read().decode()
    assert "Round" not in text
    assert address.partition("=")[2] not in text


@pytest.mark.parametrize("path", ["other", "?token=wrong", "_nicegui_ws/socket.io/?EIO=4&transport=polling"])
def test_who_has_no_token_sees_nothing(address, path):
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(address.partition("?")[0] + path)
    assert caught.value.code == 403
    assert b"token" in caught.value.read()
