"""Commands on `.hml` files: they are formatted, drawn, compiled and checked like any specification."""

from __future__ import annotations

import json

import pytest

from mopsus.cli.main import main

PROPERTY = "with jobs:worker(N) monitor max(X.and([_?{_,K} when K>N]ff,[_]X))."
CANONICAL = "with jobs:worker(N)\nmonitor\n  max(X. and([_ ? {_, K} when K > N]ff, [_]X)).\n"
LOG = """\
fork(<0.1.0>,<0.2.0>,{jobs,worker,[3]})
init(<0.2.0>,<0.1.0>,{jobs,worker,[3]})
recv(<0.2.0>,{job,3})
recv(<0.2.0>,{job,4})
exit(<0.2.0>,normal)
"""


@pytest.fixture
def mopsus(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.hml").write_text(PROPERTY)
    (tmp_path / "jobs.log").write_text(LOG)

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


def test_fmt(mopsus, tmp_path):
    assert mopsus("fmt", "jobs.hml") == (0, CANONICAL, "")
    assert mopsus("fmt", "--check", "jobs.hml")[:2] == (1, "jobs.hml\n")
    assert mopsus("fmt", "--write", "jobs.hml")[0] == 0
    assert (tmp_path / "jobs.hml").read_text() == CANONICAL
    assert mopsus("fmt", "--check", "jobs.hml")[:2] == (0, "")


def test_fmt_of_a_wrong_text(mopsus, tmp_path):
    (tmp_path / "bad.hml").write_text("with jobs:worker(N) monitor (ff.")
    status, out, err = mopsus("fmt", "bad.hml")
    assert (status, out) == (2, "")
    assert "bad.hml:1:29" in err


def test_graph(mopsus):
    status, out, _ = mopsus("graph", "jobs.hml")
    assert status == 0
    assert "[_ ? {_, K} when K > N]" in out


def test_compile_needs_no_events(mopsus):
    status, out, _ = mopsus("compile", "shml", PROPERTY.removesuffix("."), "--json")
    assert status == 0
    data = json.loads(out)
    assert (data["kind"], data["creation"]) == ("symbolic", ["start"])
    assert data["alphabet"] == ["start", "fork", "init", "exit", "send", "recv"]


def test_check_tells_the_steps(mopsus):
    status, out, _ = mopsus("check", "jobs.hml", "jobs.log", "--json")
    assert status == 1
    verdict = json.loads(out)["verdicts"][0]
    assert (verdict["category"], verdict["row"]) == ("rejection", 4)
    assert verdict["steps"][-1]["binding"] == {"K": 4}
    assert verdict["steps"][-1]["modality"] == "[_?{_,K} when K>N]"


def test_first_match_takes_one_clause(mopsus, tmp_path):
    (tmp_path / "order.hml").write_text(
        "with jobs:worker(N) monitor max(X. and([_ ? {job, _}]X, [_ ? {_, K} when K > N]ff, [_ <- _]X, [_ ** _]X))."
    )
    assert mopsus("check", "order.hml", "jobs.log", "--quiet")[0] == 1
    assert mopsus("check", "order.hml", "jobs.log", "--quiet", "--first-match")[0] == 0


def test_a_wrong_formula_has_its_place(mopsus, tmp_path):
    (tmp_path / "bad.hml").write_text("% one\nwith jobs:worker(_)\nmonitor\n  [_ ? A when B > A]ff.\n")
    status, _, err = mopsus("check", "bad.hml", "jobs.log")
    assert status == 2
    assert "bad.hml:4:15" in err
    assert "variable 'B' is unbound" in err


def test_fields_are_columns_of_a_trace(mopsus, tmp_path):
    (tmp_path / "order.mop").write_text(
        "Order(q) {\n    event put(q; n)\n    shml : max X.([put(n)][put(m) when m < n] ff and [put(_)] X)\n}\n"
    )
    (tmp_path / "good.csv").write_text("event,q,n\nput,a,1\nput,b,9\nput,a,2\n")
    (tmp_path / "bad.csv").write_text("event,q,n\nput,a,1\nput,b,9\nput,a,0\n")
    assert mopsus("check", "order.mop", "good.csv", "--quiet")[0] == 0
    status, out, _ = mopsus("check", "order.mop", "bad.csv", "--json")
    assert (status, json.loads(out)["verdicts"][0]["row"]) == (1, 3)


def test_python_in_guards_is_refused_on_request(mopsus, tmp_path):
    (tmp_path / "order.mop").write_text("Order(q) {\n    event put(q; n)\n    shml : [put(n) when n < 0] ff\n}\n")
    (tmp_path / "a.csv").write_text("event,q,n\nput,a,1\n")
    status, _, err = mopsus("check", "order.mop", "a.csv", "--no-code")
    assert status == 2
    assert "contains Python code" in err
    assert mopsus("check", "jobs.hml", "jobs.log", "--no-code")[0] == 1


def test_columns_of_fields_can_have_other_names(mopsus, tmp_path):
    (tmp_path / "order.mop").write_text(
        'Order(q) {\n    event put(q; n) : named("PUT") && bind(n = number)\n    shml : [put(n) when n < 0] ff\n}\n'
    )
    (tmp_path / "a.csv").write_text("event,q,number\nPUT,a,1\nPUT,b,-9\nother,a,-1\n")
    (tmp_path / "a.jsonl").write_text('{"event": "PUT", "q": "b", "number": -9}\n')
    assert mopsus("check", "order.mop", "a.csv", "--quiet")[0] == 1
    assert mopsus("check", "order.mop", "a.jsonl", "--quiet")[0] == 1


def test_what_is_undecided_at_the_end(mopsus, tmp_path):
    (tmp_path / "three.hml").write_text(
        "with jobs:worker(_) check max X.([_]X), with jobs:worker(_) check [_]tt,"
        "with jobs:worker(_) monitor [_]max X.([_]X)."
    )
    (tmp_path / "open.log").write_text("".join(LOG.splitlines(keepends=True)[:3]))
    _, out, _ = mopsus("check", "three.hml", "open.log", "--json", "--at-end")
    assert [(each["property"], each["presumed"]) for each in json.loads(out)["at_end"]] == [
        ("worker", True),
        ("worker_3", None),
    ]
