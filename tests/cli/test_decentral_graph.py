"""`mopsus graph` draws decentralized specifications."""

import pytest

from mopsus.cli.main import main

LIGHTS = """
[monitors]
light = "l"
check = "G(s -> X(@light U !s))"
"""


@pytest.fixture
def mopsus(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lights.toml").write_text(LIGHTS)
    (tmp_path / "one.xml").write_text(
        "<specifications><specification id='root' class='LTL'><setLTL>F a</setLTL></specification></specifications>"
    )

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["graph", *arguments])
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


def test_text_shows_all(mopsus):
    status, out, err = mopsus("lights.toml")
    assert (status, err) == (0, "")
    titles = [line.split(":")[0] for line in out.splitlines() if line[:1] not in " >*" and ":" in line]
    assert titles == ["lights", "light", "check"]
    assert "s & !light" in out
    assert mopsus("one.xml")[1].startswith("root: 2 states")


def test_other_forms_show_one(mopsus):
    assert '[label="verdicts"]' in mopsus("lights.toml", "--to", "dot")[1]
    assert "s & light" in mopsus("lights.toml", "--to", "dot", "--spec", "check")[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("lights.toml", "--spec", "chekc"), "check"),
        (("lights.toml", "--to", "hoa"), "hoa"),
        (("nothing.xml",), "cannot read nothing.xml"),
    ],
)
def test_misuse_is_said(mopsus, arguments, says):
    status, out, err = mopsus(*arguments)
    assert (status, out) == (2, "")
    assert says in err
