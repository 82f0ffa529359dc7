"""A project as it was published, and a virtual environment for its tests.

The environment has two parts. Its `site-packages` hold the tools: pytest with its plugins, and Mopsus from this
checkout. What is under study, the project and all that it needs, lies in a folder of its own: there Mopsus takes it for
a part of the program, so that libraries are woven in full.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from studies.error import StudyError
from studies.projects import Project

CHECKOUT = Path(__file__).resolve().parents[1]
BUILD = CHECKOUT / "build" / "studies"
RECORDER = Path(__file__).resolve().with_name("recorder")
TOOLS = ("pytest>=8,<10",)
NEEDED = (
    "scikit-build-core>=1.1",
    *tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["dependencies"],
)
"""What Mopsus needs to be installed, and to run."""
CORE = "src/mopsus/_core.*.so"


@dataclass(frozen=True)
class Environment:
    """Where the tests of a project run."""

    python: Path
    source: Path
    """The folder in which tests are started."""
    libraries: Path
    """What is under study, apart from the tests."""
    work: Path
    """For logs, records and the cache of woven code."""

    def variables(self, project: Project) -> dict[str, str]:
        """What a run of tests sees of its surroundings beside what it inherits."""
        return {
            "PYTHONPATH": f"{self.libraries}:{RECORDER}",
            "PYTHONHASHSEED": "0",
            "XDG_CACHE_HOME": str(self.work / "cache"),
            **project.variables,
        }


def prepare(project: Project, folder: Path = BUILD) -> Environment:
    """Get and install a project, unless that has been done."""
    base = folder / project.name
    environment = Environment(base / "venv" / "bin" / "python", base / "source", base / "libraries", base)
    stamp, wanted = base / "prepared", _fingerprint(project)
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(base, ignore_errors=True)
        base.mkdir(parents=True)
        (folder / "pytest.ini").touch()  # a project without settings for pytest would get those of this checkout
        _install_project(project, environment)
        stamp.write_text(wanted)
    if project.suite is not None:
        shutil.rmtree(environment.source, ignore_errors=True)
        shutil.copytree(project.suite, environment.source)
    _install_mopsus(environment)
    return environment


def _install_project(project: Project, environment: Environment) -> None:
    base, published = environment.work, project.requirement
    if project.suite is None:
        archive = _download(project, base)
        _unpack(archive, environment.source)
        published = f"{archive}{project.options}"
    _step(base, "cannot make a virtual environment", sys.executable, "-m", "venv", str(base / "venv"))
    _step(base, "cannot install the tools", *_pip(environment), *TOOLS, *project.tools, *NEEDED)
    wanted = ("--target", str(environment.libraries), published, *project.requirements)
    _step(base, "cannot install the project", *_pip(environment), *wanted, variables=project.variables)


def _install_mopsus(environment: Environment) -> None:
    """Install this checkout as it is now, with the core that was built in it."""
    cores = list(CHECKOUT.glob(CORE))
    if not cores:
        raise StudyError("the core of Mopsus is not built", hint="run `make setup`")
    options = ("--no-build-isolation", "--force-reinstall", "--config-settings=wheel.cmake=false")
    _step(environment.work, "cannot install Mopsus", *_pip(environment), *options, "--no-deps", str(CHECKOUT))
    (installed,) = environment.work.glob("venv/lib/*/site-packages/mopsus")
    for core in cores:
        shutil.copy2(core, installed)


def _pip(environment: Environment) -> tuple[str, ...]:
    return (str(environment.python), "-m", "pip", "--disable-pip-version-check", "install", "-q")


def _fingerprint(project: Project) -> str:
    asked = (project.requirement, project.own_suite, project.requirements, project.tools, sys.version, str(CHECKOUT))
    return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()


def _download(project: Project, base: Path) -> Path:
    _step(
        base, f"cannot download {project.requirement}",
        sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps", "--no-binary",
        project.name, f"{project.name}=={project.version}", "-d", str(base / "download"),
    )  # fmt: skip
    return next((base / "download").iterdir())


def _unpack(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extractall(target.with_suffix(".unpacked"), filter="data")
    (inner,) = target.with_suffix(".unpacked").iterdir()
    inner.rename(target)


def _step(base: Path, failure: str, *command: str, variables: Mapping[str, str] | None = None) -> None:
    log, seen = base / "prepare.log", {**os.environ, **(variables or {})}
    with log.open("ab") as file:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env=seen, check=False
        )
    if done.returncode:
        last = log.read_text(errors="replace").strip().splitlines()[-3:]
        raise StudyError(f"{failure}: " + " / ".join(last), hint=f"read {log}; what is done already is not done again")
