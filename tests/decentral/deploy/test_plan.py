"""Deployment files, and what is wrong with them."""

from __future__ import annotations

import pytest
from decentral.support import LIGHTS

from mopsus.decentral import DecentralError
from mopsus.decentral.deploy.plan import read_plan

BULB = """[components.bulb]
host = "lamp"
peripheries = [{ kind = "file", path = "bulb.trace" }]
"""
GOOD = f"""
specification = "lights.toml"
algorithm = "orch"
[components.switch]
host = "hall"
peripheries = [{{ kind = "text", trace = "s:t" }}]
{BULB}
[run]
limit = 100
timeout_s = 2
"""


@pytest.fixture
def written(tmp_path):
    (tmp_path / "lights.toml").write_text(LIGHTS)

    def write(text):
        path = tmp_path / "deployment.toml"
        path.write_text(text)
        return path

    return write


def test_all_that_a_file_says(written):
    deployed = read_plan(written(GOOD))
    assert deployed.algorithm == "orch"
    assert list(deployed.components) == ["hall", "lamp"]
    assert [(placed.name, placed.propositions) for placed in deployed.components["hall"]] == [("switch", ("s",))]
    assert (deployed.settings.limit, deployed.settings.timeout_s, deployed.settings.slack) == (100, 2, None)
    assert sorted(deployed.hosts.values()) == ["hall", "lamp"]


def test_a_system_that_the_specification_does_not_describe(written, tmp_path):
    (tmp_path / "lights.toml").write_text('[monitors]\ncheck = "G(s -> l)"\n')
    described = GOOD.replace('host = "hall"', 'host = "hall"\npropositions = ["s"]')
    with pytest.raises(DecentralError, match="it is not said what 'bulb' observes"):
        read_plan(written(described))
    deployed = read_plan(written(described.replace('host = "lamp"', 'host = "lamp"\npropositions = ["l"]')))
    assert deployed.components["lamp"][0].propositions == ("l",)


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("specification", "specification = ", "DECENTRAL-072", "deployment.toml: .*line 2"),
        ("lights.toml", "lights\\u0000.toml", "DECENTRAL-072", "null character"),
        ("limit = 100", f"limit = {'[' * 9999}", "DECENTRAL-072", "deployment.toml"),
        ("algorithm =", "algorism =", "DECENTRAL-072", "algorism"),
        ('"orch"', '"orhc"', "DECENTRAL-084", "there is no 'orhc'"),
        ('"orch"', '"evil.py:Evil"', "DECENTRAL-072", "hosts do not run 'evil.py:Evil' from a file"),
        ("lights.toml", "nights.toml", "DECENTRAL-030", "cannot read .*nights.toml"),
        ("components.bulb", "components.blub", "DECENTRAL-072", "there is no component 'blub'"),
        (BULB, "", "DECENTRAL-072", "it is not said where component 'bulb' is"),
        ('kind = "file"', 'kind = "flie"', "DECENTRAL-084", "there is no 'flie'"),
        ('path = "bulb.trace"', "path = 3", "DECENTRAL-070", "'file' is not described well"),
        ("timeout_s = 2", "timeout_s = 0", "DECENTRAL-072", "timeout_s"),
        ("timeout_s = 2", "patience = 2", "DECENTRAL-072", "patience"),
    ],
)
def test_what_is_wrong(written, old, new, code, said):
    assert old in GOOD
    with pytest.raises(DecentralError, match=said) as caught:
        read_plan(written(GOOD.replace(old, new, 1)))
    assert caught.value.code == code


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DecentralError, match=r"cannot read .*nothing\.toml"):
        read_plan(tmp_path / "nothing.toml")
