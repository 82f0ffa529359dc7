"""Test modules: pytest compiles them itself, to make their assertions explain themselves; here that code is woven too.

Only loops, operators and statements need this. Functions and classes of test modules are woven wherever they come from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mopsus import _core
from mopsus.events.weave.hook import rewritten_code

_GETTING_CODE = ("_read_pyc", "_rewrite_test", "_write_pyc")
"""Functions of pytest's hook for test modules that are no part of executing them."""


def weave_test_modules(config: pytest.Config) -> Callable[[], None]:
    """From now on test modules are woven as other modules are; gives what ends that."""
    # None of this is public. Where it is not as expected, pytest does its work alone.
    hook: Any = getattr(config.pluginmanager, "rewrite_hook", None)
    load = getattr(hook, "exec_module", None)  # with --assert=plain, hook is one that does nothing
    if load is None or not hasattr(hook, "_rewritten_names"):
        return lambda: None
    try:
        from _pytest.assertion import rewrite
        from _pytest.assertion.rewrite import rewrite_asserts
    except ImportError:
        return lambda: None

    how = f" asserts of pytest {pytest.__version__}, told if they hold: {config.getini('enable_assertion_pass_hook')}"

    def load_woven(module: ModuleType) -> None:
        path = module.__spec__.origin if module.__spec__ is not None else None

        def explain_asserts(tree: ast.Module, source: bytes) -> None:
            rewrite_asserts(tree, source, path, config)

        # Not from pytest's cache, which has the code as it is without weaving, and must keep that.
        code = None
        if path is not None:
            code = _core.unobserved(rewritten_code, path, module.__name__, explain_asserts, how)
        if path is None or code is None:
            load(module)
            return
        hook._rewritten_names[module.__name__] = Path(path)  # who asks for the resources of a package looks there
        exec(code, module.__dict__)

    def end() -> None:
        hook.__dict__.pop("exec_module", None)
        vars(rewrite).update(before)

    hook.exec_module = load_woven
    # What pytest does to get code, which depends on what is kept of earlier runs, is not the tests' doing.
    before = {name: getattr(rewrite, name) for name in _GETTING_CODE if hasattr(rewrite, name)}
    vars(rewrite).update((name, partial(_core.unobserved, function)) for name, function in before.items())
    return end
