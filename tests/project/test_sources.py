"""House rules that no linter knows, checked over the sources themselves."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "mopsus"
MODULES = sorted(PACKAGE.rglob("*.py"))
NATIVE = sorted(path for path in (ROOT / "cpp").rglob("*") if path.suffix in {".cpp", ".hpp", ".h"})
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MAX_LINES = 900


def name_of(path):
    return str(path.relative_to(ROOT))


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [*MODULES, *NATIVE, *TESTS], ids=name_of)
def test_no_file_is_too_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_says_why_it_exists(path):
    assert ast.get_docstring(tree_of(path))


def _is_program(path):
    """The command line, and the examples of contracts."""
    return PACKAGE / "cli" in path.parents or path.stem.endswith(("_violating", "_clean"))


@pytest.mark.parametrize("path", [path for path in MODULES if not _is_program(path)], ids=name_of)
def test_nothing_below_the_command_line_prints_or_exits(path):
    tree = tree_of(path)
    # What a module does when it is run as a program of its own is the top of that program.
    tree.body = [node for node in tree.body if not ast.unparse(node).startswith("if __name__ == '__main__':")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"print", "exit", "quit", "sys.exit", "os._exit"}, f"line {node.lineno}: {called}"


EARLY = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] in {"model", "spec", "logics"}]


@pytest.mark.parametrize("path", EARLY, ids=name_of)
def test_the_stages_before_the_engine_do_without_the_native_core(path):
    # The import contracts cannot say this: they know no modules that are not written in Python.
    assert "mopsus._core" not in path.read_text(encoding="utf-8")


def error_classes():
    """The names of all exception classes in the package, found by their bases."""
    bases = {}
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {ast.unparse(base).split(".")[-1] for base in node.bases}
    errors = {"MopsusError"}
    while True:
        more = {name for name, above in bases.items() if above & errors} - errors
        if not more:
            return errors
        errors |= more


ERRORS = error_classes()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_exception_is_built_and_forgotten(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func).split(".")[-1]
            assert called not in ERRORS, f"line {node.lineno}: {called}(…) without raise"


CODE = re.compile(r"[A-Z]+-(?!000)\d{3}")  # 000 is what a base class has; nothing is raised with it


def message_codes():
    """The codes that the catalogues list, and the codes that the sources use."""
    listed, used = [], set()
    for path in MODULES:
        tree = tree_of(path)
        keys = [key for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys]
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                if path.name == "messages.py" and node in keys:
                    listed.append(node.value)
                else:
                    used.add(node.value)
    return listed, used


def test_every_message_code_is_in_one_catalogue_and_every_entry_is_used():
    listed, used = message_codes()
    assert sorted(used - set(listed)) == []
    assert sorted(set(listed) - used) == []
    assert len(listed) == len(set(listed))


def test_test_files_have_names_of_their_own():
    names = [path.name for path in TESTS if path.name.startswith("test_")]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_imports_keep_their_contracts():
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "KEPT" in done.stdout
