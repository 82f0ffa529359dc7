"""The page of a debugging session in a real browser, told of pictures that a debugger might send."""

from __future__ import annotations

import json
import urllib.request

import pytest
from ui import pictures
from ui.browser import chromium
from ui.live_page import BLUE, BROWN, GREEN, GREY, LIGHT_RED, RED, colour, colours, press, rows, shows, taken
from ui.views import live_view

from mopsus.bus import framed, pack
from mopsus.interactive.live.wire import Refused, Request, Wish

CONTRAST = """(words) => {
    const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((each) => each / 255)
        .map((each) => each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
        .reduce((sum, each, index) => sum + each * [0.2126, 0.7152, 0.0722][index], 0);
    const box = words.closest('.state')?.querySelector('.outer');
    let behind = words;
    while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
    const ink = getComputedStyle(words)[words.closest('svg') ? 'fill' : 'color'];
    const paper = box ? getComputedStyle(box).fill : getComputedStyle(behind).backgroundColor;
    const [low, high] = [light(ink), light(paper)].sort((one, other) => one - other);
    return (high + 0.05) / (low + 0.05);
}"""


@pytest.fixture(scope="module")
def view():
    with live_view() as view:
        yield view


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture(scope="module")
def debugger(view):
    return view[2]


@pytest.fixture
def page(view, browser):
    """The page of a shop that has stopped."""
    _, address, debugger = view
    debugger.tell(pictures.stopped())
    browser.open(address)
    shows(browser, "stopped")
    yield browser
    assert browser.problems == []


def test_states_and_transitions_have_the_colours_of_how_slices_stand(page):
    colours(page, back_twice=RED, given_away=LIGHT_RED, back=GREY, held=GREEN, sold=GREEN)
    assert colour(page, "init") not in (RED, GREEN, LIGHT_RED, GREY)
    assert taken(page) == [["3", BROWN]]


def test_nobody_has_to_tell_colours_apart(page):
    style = "getComputedStyle(document.querySelector('[data-state=%s] .outer')).%s"
    assert float(page.value(style % ("back_twice", "strokeWidth")).removesuffix("px")) > 3
    assert page.now(style % ("back", "strokeDasharray")) != "none"
    assert page.now(style % ("held", "strokeDasharray")) == "none"
    assert page.now("document.querySelectorAll('.non-accepting .inner').length") == 2
    assert page.now("document.querySelector('[data-state=held] .count').textContent") == "1"
    shows(page, "In held x1, sold x1, back_twice x1.")
    shows(page, "current before")  # the legend


def test_the_page_follows(page, debugger):
    debugger.tell(pictures.running(10))
    colours(page, back_twice=LIGHT_RED, back="rgb(255, 255, 255)", init=GREY, held=GREEN)
    shows(page, "running")
    assert page.now("document.querySelector('[data-state=held] .count').textContent") == "2"
    debugger.tell(pictures.stopped(11))
    colours(page, back_twice=RED, init="rgb(255, 255, 255)")
    shows(page, "shop: back_twice for ticket=Ticket#3 · ")
    debugger.tell(pictures.ended(12))
    shows(page, "with 0")
    debugger.tell(pictures.waiting(13))
    shows(page, "No slice is there yet.")
    page.value("!document.querySelector('.current:not(i)')")


def test_a_slice_is_looked_at_alone(page):
    colours(page, back_twice=RED)
    page.click(".m-slices tbody tr:nth-child(2)")
    colours(page, back_twice=LIGHT_RED, sold=GREEN, held=GREY)
    assert taken(page) == [["1", BROWN]]
    assert page.value("document.querySelector('.m-slices tr.chosen').innerText").startswith("ticket=Ticket#1")
    page.click(".m-slices tbody tr:nth-child(2)")
    colours(page, back_twice=RED)
    page.click(".m-slices tbody tr:nth-child(3)")
    colours(page, back_twice=LIGHT_RED, held=GREEN)
    page.value(
        "[...document.querySelectorAll('button')].find((each) => each.innerText.includes('show all')).click() ?? 1"
    )
    colours(page, back_twice=RED)


def test_slices_have_their_environments_and_are_searched(page, debugger):
    assert rows(page, ".m-slices", 3)[0] == ["ticket=Ticket#3", "back_twice", "hour=11"]
    debugger.tell(pictures.crowd(20))
    shows(page, "12,345 slices; the 200 that moved last are listed")
    assert page.value("document.querySelector('[data-state=sold] .count')?.textContent") == "3,087"
    rows(page, ".m-slices", 25)
    page.click(".m-slices input")
    for letter in "#199":
        page.key(letter, ord(letter), letter)
    assert rows(page, ".m-slices", 1)[0][0] == "ticket=Ticket#199"


def test_each_monitor_has_a_tab(page):
    page.value("document.querySelectorAll('.q-tab').length === 2")
    page.click(".q-tab:nth-child(2)")
    colours(page, shut=BLUE)
    assert taken(page) == [["2", BROWN]]
    assert page.now("document.querySelector('[data-state=shut] .count').textContent") == "●"
    assert page.now("document.querySelectorAll('.way[data-edge]').length") == 4
    assert rows(page, ".m-slices", 1)[0][:2] == ["no parameters", "shut"]


def test_events_verdicts_and_the_source_are_told(page):
    assert rows(page, ".m-events", 2)[0][:3] == ["5", "Shop_release", "ticket=Ticket#3"]
    shows(page, "monitor #2 takes its 70,000 inside of the program")
    shows(page, "shop: back_twice for ticket=Ticket#3 <b>")
    shows(page, "2-3. Shop_release(ticket=Ticket#3)")
    assert "def release" in page.value("document.querySelector('.m-source .here').innerText")
    assert page.now("document.querySelectorAll('.m-source > div').length") == len(pictures.LINES)


def test_buttons_ask_the_debugger(page, debugger):
    press(page, "go back to checkpoint 0")
    assert debugger.asked() == Request(Wish.RESTORE, 0)
    press(page, "take a checkpoint")
    assert debugger.asked() == Request(Wish.CHECKPOINT)
    page.value("document.querySelector(\"button[aria-label='interrupt']\").disabled")
    press(page, "continue")
    assert debugger.asked() == Request(Wish.CONTINUE)
    debugger.tell(pictures.running(30))
    press(page, "interrupt")
    assert debugger.asked() == Request(Wish.INTERRUPT)
    page.value("document.querySelector(\"button[aria-label='continue']\").disabled")


def test_a_program_that_runs_is_looked_at_again_and_again(tmp_path):
    with live_view() as (_, address, debugger), chromium(tmp_path) as browser:
        debugger.tell(pictures.running())
        browser.open(address)
        for serial in range(3, 6):
            assert debugger.hear() == Request(Wish.LOOK)
            debugger.tell(pictures.running(serial))
        debugger.tell(pictures.stopped(6))  # which does not change by itself
        press(browser, "take a checkpoint")
        assert debugger.asked() == Request(Wish.CHECKPOINT)


def test_what_is_refused_is_told(page, debugger):
    debugger.tell(Refused(Wish.CHECKPOINT, "the program has several threads"))
    shows(page, "checkpoint: the program has several threads")


def test_without_graphviz_states_are_listed(tmp_path):
    with live_view(PATH=str(tmp_path)) as (_, address, debugger), chromium(tmp_path / "profile") as browser:
        debugger.tell(pictures.stopped())
        browser.open(address)
        shows(browser, "> back_twice")
        shows(browser, "Shop_release ==> back_twice")
        shows(browser, "It is drawn where Graphviz is installed, and listed elsewhere.")
        shows(browser, "In held x1, sold x1, back_twice x1.")


def test_in_a_narrow_window_panels_stand_below_each_other(page):
    left = "new Set([...document.querySelectorAll('.m-live .m-card')].map((each) => each.getBoundingClientRect().left))"
    page.value(f"{left}.size === 2")
    page.resize(480, 900)
    page.value(f"{left}.size === 1 && document.documentElement.scrollWidth <= 480")
    page.resize(1500, 1000)
    page.value(f"{left}.size === 2")


def test_several_browsers_see_the_same(view, page, tmp_path):
    _, address, debugger = view
    with chromium(tmp_path) as other:
        other.open(address)
        colours(other, back_twice=RED)
        debugger.tell(pictures.running(40))
        for each in (page, other):
            colours(each, back_twice=LIGHT_RED)
        page.click(".q-tab:nth-child(2)")
        colours(page, shut=BLUE)
        colours(other, back_twice=LIGHT_RED, held=GREEN)


def test_it_is_legible_in_the_dark(view, tmp_path):
    _, address, debugger = view
    debugger.tell(pictures.stopped(50))
    with chromium(tmp_path) as page:
        page.prefer("dark")
        page.open(address)
        colours(page, back_twice=RED, given_away=LIGHT_RED, back=GREY, held=GREEN)
        assert taken(page) == [["3", "rgb(200, 150, 106)"]]
        for where in ("[data-state=held] .name", "[data-state=init] .name", ".way text", ".m-source .here"):
            assert contrast(page, where) >= 4.5


def test_it_is_legible_in_the_light(page):
    for where in (
        "[data-state=held] .name",
        "[data-state=back_twice] .name",
        ".taken .label",
        ".m-source .here",
    ):
        assert contrast(page, where) >= 4.5


def contrast(page, where):
    """Of words with what is behind them, as the guidelines for accessible pages count it."""
    return page.value(f"({CONTRAST})(document.querySelector({json.dumps(where)}))")


def test_nothing_is_loaded_from_elsewhere(page, view):
    own = view[1].partition("?")[0]
    assert page.requests
    assert [url for url in page.requests if not url.startswith((own, "data:", "blob:", "about:"))] == []


def test_who_has_no_token_sees_nothing(view):
    with urllib.request.urlopen(view[1].partition("?")[0]) as answer:
        assert "shop" not in answer.read().decode()


def test_the_end_of_the_debugger_is_told_and_the_page_stays(browser):
    with live_view() as (process, address, debugger):
        debugger.tell(pictures.stopped())
        browser.open(address)
        colours(browser, back_twice=RED)
        debugger.end()
        shows(browser, "The debugger has ended.")
        browser.value("document.querySelector(\"button[aria-label='go back to checkpoint 0']\").disabled")
        browser.click(".q-tab:nth-child(2)")
        colours(browser, shut=BLUE)
        assert process.poll() is None
        browser.open("about:blank")
        assert process.wait(60) == 0  # nobody looks any more


def test_a_view_ends_with_its_debugger():
    with live_view() as (process, _, debugger):
        debugger.line.sendall(framed(pack(pictures.stopped()))[:100])  # killed in the middle of a word
        debugger.end()
        assert process.wait(60) == 0
