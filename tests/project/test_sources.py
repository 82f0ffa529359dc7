"""House rules that no linter knows, checked over the sources themselves."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import lizard

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "mopsus"
MODULES = sorted(PACKAGE.rglob("*.py"))
NATIVE = sorted(path for path in (ROOT / "cpp").rglob("*") if path.suffix in {".cpp", ".hpp", ".h"})
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MAX_LINES = 900
MAX_WIDTH = 120
MAX_COMPLEXITY = 25


TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


def place(path, line=None):
    """Where an offender is, as compilers write it."""
    name = str(path.relative_to(ROOT))
    return name if line is None else f"{name}:{line}"


def test_no_file_is_too_long():
    lines = {place(path): path.read_bytes().count(b"\n") for path in [*MODULES, *NATIVE, *TESTS]}
    assert {name: count for name, count in lines.items() if count > MAX_LINES} == {}


def test_no_function_of_the_core_is_too_complex():
    functions = [
        (f"{place(path, function.start_line)}: {function.name}", function.cyclomatic_complexity)
        for path in NATIVE
        for function in lizard.analyze_file(str(path)).function_list
    ]
    assert len(functions) > 2000  # that none is found must not mean that none was seen
    assert [found for found in functions if found[1] > MAX_COMPLEXITY] == []


def test_every_module_says_why_it_exists():
    assert [place(path) for path, tree in TREES.items() if not ast.get_docstring(tree)] == []


def _is_program(path):
    """Return whether this is part of the command line, or an example of a contract."""
    return PACKAGE / "cli" in path.parents or path.stem.endswith(("_violating", "_clean"))


def _ends_processes(path, node):
    """Return whether this ends a process where that may be: in the room that makes processes for a run."""
    return PACKAGE / "run" in path.parents and ast.unparse(node.func) == "os._exit"


def _is_started_as_a_program(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def test_nothing_below_the_command_line_prints_or_exits():
    assert [
        f"{place(path, node.lineno)}: {ast.unparse(node.func)}"
        for path, tree in TREES.items()
        if not _is_program(path)
        for statement in tree.body
        if not _is_started_as_a_program(statement)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"print", "exit", "quit", "sys.exit", "os._exit"}
        and not _ends_processes(path, node)
    ] == []


def test_the_stages_before_the_engine_do_without_the_native_core():
    # The import contracts cannot say this: they know no modules that are not written in Python.
    early = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] in {"model", "spec", "logics"}]
    assert [place(path) for path in early if "mopsus._core" in path.read_text(encoding="utf-8")] == []


def error_classes():
    """The names of all exception classes in the package, found by their bases."""
    bases = {}
    for tree in TREES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {ast.unparse(base).split(".")[-1] for base in node.bases}
    errors = {"MopsusError"}
    while True:
        more = {name for name, above in bases.items() if above & errors} - errors
        if not more:
            return errors
        errors |= more


def test_no_exception_is_built_and_forgotten():
    """A statement that only builds an exception does nothing: it was meant to raise it."""
    errors = error_classes()
    assert [
        f"{place(path, node.lineno)}: {ast.unparse(node.value.func)}(…) without raise"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).split(".")[-1] in errors
    ] == []


CODE = re.compile(r"[A-Z]+-(?!000)\d{3}")  # 000 is what a base class has; nothing is raised with it


def message_codes():
    """The codes that the catalogues list, and the codes that the sources use."""
    listed, used = [], set()
    for path, tree in TREES.items():
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


def test_no_line_of_a_page_is_too_wide():
    """Tables and examples cannot be broken, nor can what has no space. Pages of results are written by programs."""
    wide = []
    for page in [*(ROOT / "docs").rglob("*.md"), *PACKAGE.rglob("*.md"), *ROOT.glob("*.md")]:
        if page.stem.endswith("-studies"):
            continue
        in_example = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith(("```", "~~~")):
                in_example = not in_example
            elif (
                not in_example
                and not line.lstrip().startswith("|")
                and " " in line[:MAX_WIDTH].lstrip()
                and len(line) > MAX_WIDTH
            ):
                wide.append(place(page, number))
    assert wide == []
