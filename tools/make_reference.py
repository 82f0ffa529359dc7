"""Write the reference pages that come from the code: the commands, the messages and the contracts.

python tools/make_reference.py            write docs/reference/cli.md, messages.md and contracts/
python tools/make_reference.py --check    status 1 where a page is not what it would write
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperOption

import mopsus
from mopsus.cli.app import LazyGroup, app
from mopsus.cli.contracts.describe import describe
from mopsus.contracts import Contract, catalogue
from mopsus.contracts.catalogue import GROUPS

WIDTH = 120
PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
LIBRARIES = {"stdlib": "The standard library", "packages": "Packages"}
CONTRACTS = """
    Ready-made specs, each for one rule that the documentation of a library states.
    [How to use them](../../how-to/contracts.md) is a page of its own.

    A finding of severity `error` is a violation: whatever the program goes on to do, something did not happen as its
    author thinks. A `warning` is about what is lost or dangerous under circumstances, a `note` about what the
    documentation recommends.

    There are {contracts} contracts with {rules} different rules: {alike} say the same as another one for another class.
"""
STAGES = {
    "SPEC": "Specifications",
    "LOGIC": "Formulas and logics",
    "MONITOR": "Monitors",
    "TRACE": "Traces",
    "WEAVE": "Programs",
    "COMPONENT": "Components",
    "LOG": "Logs of components",
    "OUTLINE": "Components watched from another process",
    "ERLANG": "Systems in Erlang and Elixir",
    "CONTRACT": "Contracts",
    "DECENTRAL": "Decentralized monitoring",
    "DEBUG": "Debugging sessions",
    "BUS": "Messages between hosts",
    "RUN": "Runs",
    "REPORT": "Reports",
    "VERDICT": "Verdicts",
    "FAULT": "Errors in the code of specs",
    "SEEN": "What was not seen",
    "UI": "Pages in the browser",
    "CLI": "The command line",
}


def commands_page() -> str:
    """Every command with its arguments and options, as typer knows them."""
    group = typer.main.get_command(app)
    assert isinstance(group, LazyGroup)
    return "\n".join(["# Commands", "", inspect.cleandoc(group.help or ""), "", *commands_of(group, "mopsus")])


def commands_of(group: LazyGroup, path: str) -> Iterator[str]:
    """Lines about the commands of a group, and about those of groups in it."""
    for name in group.names:
        command = group.get_command(None, name)
        yield from [f"## {path} {name}", ""]
        if isinstance(command, LazyGroup):
            yield from [inspect.cleandoc(command.help or ""), "", *commands_of(command, f"{path} {name}")]
            continue
        arguments = [each for each in command.params if isinstance(each, TyperArgument)]
        options = [each for each in command.params if isinstance(each, TyperOption) and not each.hidden]
        usage = " ".join([path, name, *["[OPTIONS]"][: len(options)], *(argument_usage(each) for each in arguments)])
        yield from [f"`{usage}`", "", inspect.cleandoc(command.help or ""), ""]
        rows = [f"| `{argument_usage(each)}` | {cell(each.help)} |" for each in arguments]
        rows += [f"| {option_names(each)} | {cell(each.help)}{default(each)} |" for each in options]
        yield from ["| | |", "|---|---|", *rows, ""]


def argument_usage(argument: TyperArgument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return name + ("…" if argument.nargs != 1 and not name.endswith("…") else "")


def option_names(option: TyperOption) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if option.is_flag:
        return names
    choices = "\\|".join(map(str, getattr(option.type, "choices", ())))
    return f"{names} `{choices or option.metavar or option.type.name.upper()}`"


def default(option: TyperOption) -> str:
    if option.is_flag or option.default is None or callable(option.default) or option.default in ("", [], ()):
        return ""
    value = getattr(option.default, "value", option.default)
    return f" Default: `{value}`."


def cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def catalogues() -> Iterator[tuple[str, str]]:
    """Every message code of the package with its sentence, from each stage's `messages` module."""
    for module in pkgutil.walk_packages(mopsus.__path__, "mopsus."):
        if module.name.endswith(".messages"):
            # A module of that name may also be about messages that components exchange.
            yield from getattr(importlib.import_module(module.name), "MESSAGES", {}).items()


def messages_page() -> str:
    """Every message code, by stage."""
    entries = sorted(catalogues())
    lines = [
        "# Messages",
        "",
        "Every error and warning has a code that stays the same from release to release.",
        "",
    ]
    for prefix, title in STAGES.items():
        rows = [f"| `{code}` | {cell(text)} |" for code, text in entries if code.startswith(prefix + "-")]
        if rows:
            lines += [f"## {title}", "", "| code | meaning |", "|---|---|", *rows, ""]
    listed = sum(line.startswith("| `") for line in lines)
    if listed != len(entries):
        raise SystemExit(f"a message code has a prefix that is not in {', '.join(STAGES)}")
    return "\n".join(lines)


def contract_pages() -> dict[str, str]:
    """A page for each group of contracts, and one that lists all of them."""
    pages = {}
    alike = sum(bool(each.like) for each in catalogue().values())
    count = {"contracts": len(catalogue()), "rules": len(catalogue()) - alike, "alike": alike}
    lines = ["# Contracts", "", inspect.cleandoc(CONTRACTS).format(**count), ""]
    for library, groups in GROUPS.items():
        lines += [f"## {LIBRARIES[library]}", ""]
        for group, about in groups.items():
            contracts = [each for each in catalogue().values() if each.group == group]
            pages[f"contracts/{group}.md"] = contract_page(about, contracts)
            lines += [f"### [{about}]({group}.md)", "", f"Group `{group}`.", "", "| contract | severity | rule |"]
            lines += ["|---|---|---|", *(contract_row(each) for each in contracts), ""]
    return {"contracts/index.md": "\n".join(lines), **pages}


def contract_row(contract: Contract) -> str:
    told = describe(contract)
    page = f"{contract.group}.md#{contract.name.lower()}"
    like = f" As `{told.like}`." if told.like else ""
    return f"| [`{contract.name}`]({page}) | {told.severity} | {cell(told.rule)}{like} |"


def contract_page(about: str, contracts: Sequence[Contract]) -> str:
    lines = [f"# {about}", ""]
    for contract in contracts:
        told = describe(contract)
        source = f"([documentation]({told.source}), severity {told.severity})"
        lines += [f"## {contract.name}", "", wrapped(told.rule), wrapped(source), ""]
        lines += [f'```mop title="{contract.path.name}"', told.text.rstrip(), "```", ""]
        for lead, path in (("A violation:", contract.violating), ("No violation:", contract.clean)):
            text = path.read_text(encoding="utf-8").rstrip()
            lines += [lead, "", f'```python title="{path.name}"', text, "```", ""]
    return "\n".join(lines)


def wrapped(text: str) -> str:
    """The text in lines that are no wider than those of other pages."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def main() -> int:
    stale = 0
    for name, text in {"cli.md": commands_page(), "messages.md": messages_page(), **contract_pages()}.items():
        page = PAGES / name
        if page.exists() and page.read_text(encoding="utf-8") == text:
            continue
        if "--check" in sys.argv:
            print(f"{page.relative_to(PAGES.parent.parent)} is not what the code says; run tools/make_reference.py")
            stale = 1
        else:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main())
