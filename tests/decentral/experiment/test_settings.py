"""The files of experiments: what they mean, in either form, and where they are wrong."""

from __future__ import annotations

import pytest

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.experiment.settings import Check, Drawn, load_experiment
from mopsus.decentral.measures.groups import STOCK

LEAST = 'algorithms = ["orch"]\n[[series]]\nspecs = "s.xml"\ntraces = "t"\nruns = 2\ncomponents = 3\n'

THEMIS = """\
# an experiment
tests.skip=false
tests.discard = true
tests.oracle : uga.corse.themis.TestLTL
traces.dir=traces
traces.maximum=20
run.length=65
run.components=3
! lists
run.specs=specs.txt
run.algorithms=\\
    algorithms.txt
node.targets=localhost:8056,localhost:8057
node.host=localhost:8059
THEMIS_CACHE_LTL=cache
THEMIS_BENCH_DB=bench.db
OTHER=a\\=b
"""


@pytest.fixture
def load(tmp_path):
    for name in ("s.xml", "specs/10.xml", "specs/9.xml", "specs/n.toml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (tmp_path / "specs.txt").write_text("specs/9.xml\n\n# not this: s.xml\nspecs/10.xml # but this\n")
    (tmp_path / "algorithms.txt").write_text("uga.corse.themis.Orchestration\nx.MigrationRR\nchor\nmine.py:Mine\n")

    def load(text, name="e.toml"):
        (tmp_path / name).write_text(text)
        return load_experiment(tmp_path / name)

    return load


def test_what_is_left_out(load, tmp_path):
    experiment = load(LEAST)
    settings = experiment.settings
    assert (settings.limit, settings.slack, settings.seed, settings.check) == (None, 5, 0, Check())
    assert settings.measures == list(STOCK)
    assert experiment.results == tmp_path / "e.db"
    assert (experiment.cache, experiment.title) == (None, "e")
    assert experiment.specs == (("s.xml",),)


def test_all_that_can_be_said(load, tmp_path):
    experiment = load(
        """
        title = "Everything"
        algorithms = ["orch", "mine.py:Mine"]
        limit = 65
        slack = 0
        seed = 7
        measures = ["run"]
        results = "out/r.db"
        cache = "cache"
        network = "loss=0.1"
        options = { migr = { active = 2 } }
        check = { oracle = "mine.py:good", timeout_s = 3, write = true }

        [[series]]
        name = "few"
        components = 3
        specs = ["specs/*.xml", "specs.txt"]
        traces = { profile = "beta-1", length = 20, seed = 3, invert = true }
        first = 50
        runs = 50
        tags = { profile = "beta-1" }

        [[series]]
        name = "many"
        specs = "specs/*.toml"
        traces = "t"
        runs = 1
        """
    )
    assert experiment.specs == (("specs/9.xml", "specs/10.xml"), ("specs/n.toml",))
    few, many = experiment.settings.series
    assert few.traces == Drawn("beta-1", 20, 2, 3, True)
    assert (few.first, few.tags, many.components) == (50, {"profile": "beta-1"}, None)
    assert experiment.results == tmp_path / "out" / "r.db"
    assert experiment.settings.options == {"migr": {"active": 2}}


def test_properties_mean_the_same(load, tmp_path):
    experiment = load(THEMIS, "e.properties")
    settings = experiment.settings
    assert settings.algorithms == ["orch", "migrr", "chor", "mine.py:Mine"]
    assert experiment.specs == (("specs/9.xml", "specs/10.xml"),)
    assert settings.check == Check(oracle="monitorable", write=True)
    (series,) = settings.series
    assert (series.runs, series.components, series.traces, settings.limit) == (20, 3, "traces", 65)
    assert (experiment.results, experiment.cache) == (tmp_path / "bench.db", tmp_path / "cache")
    assert settings.environment["OTHER"] == "a=b"
    assert experiment.list_of(series) == tmp_path / "specs.txt"


def test_results_depend_on_what_changes_them(load):
    before = load(LEAST).identities()
    for more in ("title = 'x'", "results = 'x.db'", "cache = 'c'", "check = { skip = true }"):
        assert load(f"{more}\n{LEAST}").identities() == before
    for old, new in (("2", "3"), ('["orch"]', '["orch", "chor"]'), ('"s.xml"', '"specs.txt"')):
        assert load(LEAST.replace(old, new)).identities() == before
    for more in ("limit = 3", "seed = 1", "measures = ['run']", "network = 'loss=1'", "slack = 1"):
        assert load(f"{more}\n{LEAST}").identities() != before
    for old, new in (('"t"', '"u"'), ("= 3", "= 4")):
        assert load(LEAST.replace(old, new)).identities() != before


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("algorithms = [", 1, "invalid value"),
        (LEAST.replace("runs = 2\n", ""), 2, "missing required field 'runs'"),
        (f"title = 'a'\n{LEAST}".replace("'a'", '"\\u0000"'), 1, "null character"),
        (LEAST.replace("runs = 2", "runs = 0"), 5, "no trace to run on"),
        (LEAST.replace("runs = 2", "runs = '2'"), 5, "expected 'int'"),
        (LEAST.replace("runs", "rnus"), 5, "unknown key 'rnus'"),
        (LEAST.replace("components = 3", "components = 0"), 6, "needs a component"),
        (f"{LEAST}first = -1", 7, "from 0 on"),
        (f"{LEAST}tags = {{ spec = 1 }}", 7, "'spec' is the name of a column"),
        (f"{LEAST}{LEAST[22:]}", 2, "a name of its own"),
        (f"limit = 0\n{LEAST}", 1, "at least one round"),
        (f"slack = -1\n{LEAST}", 1, "cannot be negative"),
        (f"network = 'loss=2'\n{LEAST}", 1, "from 0 to 1"),
        (f"algorithm = 3\n{LEAST}", 1, "unknown key 'algorithm'"),
        ('algorithms = ["orch"]\nseries = []', 2, "no series"),
        (LEAST.replace('["orch"]', "[]"), 1, "no algorithm"),
        (LEAST.replace('["orch"]', '["orch", "orch"]'), 1, "named twice"),
        (LEAST.replace('"t"', "{ length = 4 }").replace("components = 3\n", ""), 2, "'components', which is missing"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(load, text, line, says):
    with pytest.raises(DecentralError) as caught:
        load(text)
    assert says in caught.value.message.lower()
    assert caught.value.place.line == line


def test_a_pattern_of_files_that_is_none(load):
    with pytest.raises(DecentralError, match=r"\*\*x.toml is no pattern") as caught:
        assert load(LEAST.replace("s.xml", "**x.toml")).specs
    assert caught.value.code == "DECENTRAL-083"


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("run.length=65", "run.length=x", 7, "'x' is no number"),
        ("tests.discard = true", "tests.discard = maybe", 3, "neither true nor false"),
        ("run.length", "run.lenght", 7, "'run.lenght' is no setting"),
        ("run.components=3\n", "", None, "'run.components' is missing"),
        ("algorithms.txt", "none.txt", 11, "cannot read"),
        ("OTHER=", "=", 17, "no 'key = value'"),
        ("algorithms.txt", "algorithms\0.txt", None, "null character"),
    ],
)
def test_properties_that_are_wrong(load, old, new, line, says):
    with pytest.raises(DecentralError) as caught:
        load(THEMIS.replace(old, new), "e.properties")
    assert says in caught.value.message
    assert (caught.value.place and caught.value.place.line) == line


def test_files_that_are_not_there(load, tmp_path):
    for text, says in [
        (LEAST.replace("s.xml", "none/*.xml"), "there are no specifications none/*.xml"),
        (LEAST.replace("s.xml", "none.txt"), "cannot read the list"),
    ]:
        with pytest.raises(DecentralError, match="specifications") as caught:
            _ = load(text).specs
        assert says in caught.value.message
    with pytest.raises(DecentralError, match="cannot read"):
        load_experiment(tmp_path / "none.toml")
