"""Stage 1: specifications in canonical form.

Order: settings, variables, events, properties with their handlers. Parsing the text gives back an
equal specification, and formatting a formatted text changes nothing. Comments stay with the
item they stand before, in or beside; one inside an item moves to the lines before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mopsus.model import BindingMode, Code, Event, Handler, Modifiers, Parameter, Pointcut, Property, Spec, Variable
from mopsus.spec import pytext
from mopsus.spec.check import FLAGS
from mopsus.spec.formula import STATED
from mopsus.spec.hml.layout import format_script
from mopsus.spec.hml.script import Script
from mopsus.spec.parser import Layout, SpecLayout, parse_file
from mopsus.spec.predicate import quote
from mopsus.spec.prop.printer import print_file
from mopsus.spec.prop.tree import Automaton
from mopsus.spec.scan import Item, RawSpec

_INDENT = "    "
_WIDTH = 100
"""A body of one line stays beside its event or handler up to this width."""


def print_spec(spec: Spec) -> str:
    """The canonical text of a specification, with the imports of its file; ends with a line end."""
    return _assemble([code.text for code in spec.imports], [_spec_lines(spec, None)])


def format_file(text: str, filename: str = "<string>", *, logics: Collection[str] | None = None) -> str:
    """A whole file in canonical form, with its comments. Raises `SpecError` if it is wrong."""
    file = parse_file(text, filename, logics=logics)
    if isinstance(file.layout, Automaton):
        return print_file(file.layout, file.source.text)
    if isinstance(file.layout, Script):
        return format_script(file.layout, file.source.text)
    imports: list[str] = []
    for item, code in zip(file.layout.imports, file.imports, strict=True):
        imports += _commented([code.text], _above(item))
    specs = [_spec_lines(spec, layout) for spec, layout in zip(file.specs.values(), file.layout.specs, strict=True)]
    return _assemble(imports, specs, _ending(file.layout))


def _ending(layout: Layout) -> list[str]:
    return _comment_lines(layout.file.ending.leading, "")


def _assemble(imports: list[str], specs: Sequence[list[str]], ending: Sequence[str] = ()) -> str:
    blocks = [imports, *specs, list(ending)]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n" if any(blocks) else ""


def _spec_lines(spec: Spec, layout: SpecLayout | None) -> list[str]:
    kept = layout or SpecLayout(RawSpec(Item(0)))
    groups = [
        _settings(spec, kept),
        _each(((_variable(variable),) for variable in spec.variables), list(map(_above, kept.variables))),
        _each((_event(event) for event in spec.events), kept.events),
        *_properties(spec, kept),
        _comment_lines(kept.raw.closing.leading, _INDENT),
    ]
    lines = _commented([_header(spec)], kept.raw.header, indent="")
    for number, group in enumerate(group for group in groups if group):
        lines += ["", *group] if number else group
    lines.append(_beside("}", kept.raw.closing))
    return lines


def _each(printed: Iterable[Sequence[str]], items: Sequence[Item]) -> list[str]:
    lines: list[str] = []
    for number, block in enumerate(printed):
        item = items[number] if number < len(items) else Item(0)
        lines += _commented(list(block), item, _INDENT)
    return lines


def _commented(lines: list[str], item: Item, indent: str = "") -> list[str]:
    """An item after its leading comments, its trailing ones beside its last line; its first line lacks indentation."""
    body = [indent + lines[0], *lines[1:]]
    body[-1] = _beside(body[-1], item)
    return [*_comment_lines(item.leading, indent), *body]


def _above(item: Item) -> Item:
    """The item with its comments moved before it, unless they are Python's: `//` after an expression divides."""
    beside = [text for text in item.trailing if text.startswith("#")]
    above = [text for text in item.trailing if not text.startswith("#")]
    return Item(item.start, leading=[*item.leading, *above], trailing=beside)


def _beside(line: str, item: Item) -> str:
    return "  ".join([line, *(" ".join(part.strip() for part in text.split("\n")) for text in item.trailing)])


def _comment_lines(comments: Iterable[str], indent: str) -> list[str]:
    lines: list[str] = []
    for comment in comments:
        first, *rest = comment.split("\n")
        lines.append(indent + first.rstrip())
        lines += [(indent + (" " if line.lstrip().startswith("*") else "   ") + line.strip()).rstrip() for line in rest]
    return lines


def _header(spec: Spec) -> str:
    parameters = f"({', '.join(map(_parameter, spec.parameters))})" if spec.parameters else ""
    return " ".join([*modifier_words(spec.modifiers), f"{spec.name}{parameters}", "{"])


def modifier_words(modifiers: Modifiers) -> list[str]:
    """The words for modifiers in canonical order, the default binding mode left out."""
    binding = [] if modifiers.binding is BindingMode.ANY else [modifiers.binding.value]
    return binding + [flag for flag in FLAGS if getattr(modifiers, flag)]


def _parameter(parameter: Parameter) -> str:
    kind = f": {parameter.type}" if parameter.type else ""
    by = f" by {parameter.by}" if parameter.by else ""
    return f"{parameter.name}{kind}{by}"


def _settings(spec: Spec, kept: SpecLayout) -> list[str]:
    lines: list[str] = []
    if spec.severity is not None:
        lines += _commented([f"severity: {spec.severity.value}"], kept.settings.get("severity", Item(0)), _INDENT)
    if spec.doc:
        lines += _commented([f"doc: {quote(spec.doc)}"], kept.settings.get("doc", Item(0)), _INDENT)
    return lines


def _variable(variable: Variable) -> str:
    kind = f": {variable.type}" if variable.type else ""
    return f"var {variable.name}{kind} = {variable.initial.text}"


def _event(event: Event) -> list[str]:
    words = ["creation"] if event.creation else []
    if event.advice is None:
        listed = _names(event.parameters, event.fields)
        words += ["event", event.name + (f"({listed})" if listed else "")]
    else:
        result = event.returning or event.raising
        given = [name for name in event.parameters if name != result]
        words += ["event", event.name, f"{event.advice}({_names(given, event.fields)})"]
        words += [f"{word}({name})" for word in ("returning", "raising") if (name := getattr(event, word)) is not None]
    if event.pointcut is not None or event.condition is not None:
        words += [":", " && ".join(_conjuncts(event))]
    return _with_body(" ".join(words), event.action)


def _names(parameters: Sequence[str], fields: Sequence[str]) -> str:
    """What stands in the parentheses of an event: `c, i; x`."""
    after = f"; {', '.join(fields)}" if fields else ""
    return f"{', '.join(parameters)}{after}"


def _conjuncts(event: Event) -> list[str]:
    parts = [_pointcut(event.pointcut, 1 if event.condition else 0)] if event.pointcut else []
    return parts + ([f"condition({event.condition.text})"] if event.condition else [])


def print_pointcut(pointcut: Pointcut) -> str:
    """The canonical text of a pointcut."""
    return _pointcut(pointcut, 0)


def _pointcut(pointcut: Pointcut, outer: int) -> str:
    """`outer` is how tightly the text around binds: 0 nothing or `||`, 1 `&&`, 2 `!`."""
    match pointcut.kind:
        case "or":
            text = " || ".join(_pointcut(operand, 0) for operand in pointcut.operands)
            return f"({text})" if outer >= 1 else text
        case "and":
            text = " && ".join(_pointcut(operand, 1) for operand in pointcut.operands)
            return f"({text})" if outer >= 2 else text
        case "not":
            return "!" + _pointcut(pointcut.operands[0], 2)
    return f"{pointcut.kind}({pointcut.text})"


def _properties(spec: Spec, kept: SpecLayout) -> list[list[str]]:
    groups = []
    for number, prop in enumerate(spec.properties):
        item, handlers = kept.properties[number] if number < len(kept.properties) else (Item(0), [])
        lines = _commented(_formula(prop), item, _INDENT)
        groups.append(lines + _each((_handler(handler) for handler in prop.handlers), handlers))
    return groups


def _formula(prop: Property) -> list[str]:
    lines = prop.formula.split("\n")
    if len(lines) == 1:
        return [f"{prop.logic} : {prop.formula}"]
    if prop.logic in STATED:
        return [f"{prop.logic} :", *pytext.indent(prop.formula, _INDENT * 2).split("\n")]
    printed, depth = [f"{prop.logic} :"], 0
    for line in lines:
        closes = line[0] in ")]"
        printed.append(_INDENT * (2 + max(0, depth - closes)) + line)
        depth += sum(line.count(c) for c in "([") - sum(line.count(c) for c in ")]")
    return printed


def _handler(handler: Handler) -> list[str]:
    severity = f"[{handler.severity.value}]" if handler.severity else ""
    return _with_body(f"@{handler.category}{severity}", handler.code)


def _with_body(text: str, code: Code | None) -> list[str]:
    if code is None:
        return [text]
    inline = f"{text} {{ {code.text} }}"
    if "\n" not in code.text and "#" not in code.text and len(_INDENT + inline) <= _WIDTH:
        return [inline]
    return [f"{text} {{", *pytext.indent(code.text, _INDENT * 2).split("\n"), _INDENT + "}"]
