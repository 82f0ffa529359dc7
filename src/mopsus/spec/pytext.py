"""Stage 1: Python inside specifications: where it ends, its text without the indentation around it, is it valid.

A body ends at the matching brace as Python's tokenizer sees it. When the tokenizer gives up (an
unterminated string, say) a coarser scan finds the brace, so that the fault is reported where it is.
"""

from __future__ import annotations

import ast
import inspect
import re
import tokenize
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# A prefix changes nothing about where a string ends: even in a raw one, a quote after a backslash does not end it.
_STRING = r"""(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_LITERAL = re.compile(rf"[A-Za-z]{{0,2}}{_STRING}", re.DOTALL)
_COARSE = re.compile(
    rf"(?P<string>{_STRING})|(?P<comment>\#[^\n]*)|(?P<bracket>[()\[\]{{}}])|(?P<end>[\n;])", re.DOTALL
)
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why some Python does not compile, at an offset of its own text."""

    message: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Body:
    """Dedented Python: `starts[k]` is the offset in the source of the first kept character of line `k`."""

    text: str
    starts: tuple[int, ...]

    def offset(self, line: int, column: int) -> int:
        """The offset in the source of a place in the text, both counted from 1."""
        line = min(max(line, 1), len(self.starts))
        return max(self.starts[line - 1] + max(column, 1) - 1, 0)


def closing(text: str, opening: int) -> int | None:
    """The offset of the bracket that closes the one at `opening`, or None if nothing does."""
    try:
        return _closing(text, opening, _tokenized(text, opening))
    except (tokenize.TokenError, SyntaxError):
        return _closing(text, opening, _scanned(text, opening))


def expression_end(text: str, start: int) -> int:
    """Where a Python expression ends that may run over lines only inside brackets."""
    depth = 0
    for kind, begin, _ in _scanned(text, start):
        if kind == "bracket":
            depth += 1 if text[begin] in "([{" else -1
            if depth < 0:
                return begin
        elif depth == 0 and kind in ("end", "comment"):
            return begin
    return len(text)


def string_end(text: str, start: int) -> int | None:
    """Where the string literal that begins at `start` ends, if one begins there."""
    match = _LITERAL.match(text, start)
    return match.end() if match else None


def dedent(text: str, start: int, end: int) -> Body:
    """The Python in `text[start:end]`, which directly follows an opening brace, without the indentation around it.

    Lines inside strings keep their indentation, because it is part of a value.
    """
    pieces = _physical_lines(text, start, end)
    frozen = _lines_in_strings(text[start - 1 : end] + "}", 0)
    while pieces and not pieces[0][1].strip():
        pieces.pop(0)
        frozen = {number - 1 for number in frozen}
    while pieces and not pieces[-1][1].strip():
        pieces.pop()
    inline = bool(pieces) and pieces[0][0] == start
    body = _strip_margin(pieces, frozen, inline=inline, extra="")
    if inline and len(pieces) > 1 and problem_in_body(body.text) is not None:
        # `{ if x:` on the brace's own line: the lines below belong to its block.
        nested = _strip_margin(pieces, frozen, inline=True, extra="    ")
        if problem_in_body(nested.text) is None:
            return nested
    return body


def indent(text: str, prefix: str) -> str:
    """`text` with `prefix` before every line that is neither blank nor inside a string."""
    frozen = _lines_in_strings("{" + text + "\n}", 0)
    lines = text.split("\n")
    return "\n".join(line if not line or k in frozen else prefix + line for k, line in enumerate(lines))


def problem_in_body(text: str) -> Problem | None:
    """Why `text` cannot be the body of a function, if it cannot."""
    return _problem(text, _compile_body)


def problem_in_expression(text: str) -> Problem | None:
    """Why `text`, as if in parentheses, is no expression, if it is none."""
    return _problem(text, _compile_expression)


def _problem(text: str, check: Callable[[str], None]) -> Problem | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(text)
    except SyntaxError as error:
        return _place(error, text.split("\n"))
    except (ValueError, OverflowError) as error:
        return Problem(str(error), 1, 1)
    except (RecursionError, MemoryError):
        return Problem("too deeply nested", 1, 1)
    return None


def _place(error: SyntaxError, lines: list[str]) -> Problem:
    message, line, column = error.msg or "invalid syntax", error.lineno or 1, error.offset or 1
    if line > len(lines):
        return Problem(message, len(lines), len(lines[-1]) + 1)
    if isinstance(error, IndentationError):
        column = len(lines[line - 1]) - len(lines[line - 1].lstrip()) + 1
    return Problem(message, line, column)


def _compile_body(text: str) -> None:
    tree = ast.parse(text)
    function = ast.parse("def body(): pass")
    definition = function.body[0]
    assert isinstance(definition, ast.FunctionDef)
    if tree.body:
        definition.body = tree.body
    try:
        module = compile(function, "<body>", "exec", dont_inherit=True)
    except SyntaxError as error:
        # Columns of a tree are counted in bytes, those of a text in characters.
        line = text.split("\n")[(error.lineno or 1) - 1].encode()
        error.offset = len(line[: (error.offset or 1) - 1].decode("utf-8", "ignore")) + 1
        raise
    code = next(constant for constant in module.co_consts if inspect.iscode(constant))
    if code.co_flags & inspect.CO_GENERATOR:
        raise SyntaxError("a body cannot yield")


def _compile_expression(text: str) -> None:
    try:
        compile(f"({text}\n)", "<expression>", "eval", dont_inherit=True)
    except SyntaxError as error:
        if error.lineno == 1 and error.offset:
            error.offset -= 1  # the parenthesis added in front
        raise


def _closing(text: str, opening: int, lexemes: Iterator[tuple[str, int, int]]) -> int | None:
    opener, closer, depth = text[opening], _CLOSERS[text[opening]], 0
    for kind, begin, _ in lexemes:
        if kind == "bracket" and text[begin] in (opener, closer):
            depth += 1 if text[begin] == opener else -1
            if depth == 0:
                return begin
    return None


def _tokenized(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Strings, comments and brackets from `start` on, which is an opening bracket, so that indentation is free."""
    fstring = -1
    depth = 0
    starts = [start]

    def readline() -> str:
        begin = starts[-1]
        end = text.find("\n", begin) + 1 or len(text)
        starts.append(end)
        return text[begin:end]

    for token in tokenize.generate_tokens(readline):
        begin = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        name = tokenize.tok_name[token.type]
        if name == "FSTRING_START":
            fstring, depth = (begin, 1) if depth == 0 else (fstring, depth + 1)
        elif name == "FSTRING_END":
            depth -= 1
            if depth == 0:
                yield "string", fstring, end
        elif depth:
            continue
        elif name == "STRING":
            yield "string", begin, end
        elif name == "COMMENT":
            yield "comment", begin, end
        elif name == "OP" and token.string in "()[]{}":
            yield "bracket", begin, end


def _scanned(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The same by a regular expression, plus line ends and semicolons; never fails."""
    for match in _COARSE.finditer(text, start):
        assert match.lastgroup is not None
        yield match.lastgroup, match.start(), match.end()


def _lines_in_strings(text: str, start: int) -> set[int]:
    """The numbers, from 0, of the lines that begin inside a string; `text[start]` is an opening brace."""
    try:
        lexemes = list(_until_closed(text, start))
    except (tokenize.TokenError, SyntaxError):
        lexemes = list(_scanned(text, start))
    inside: set[int] = set()
    for kind, begin, end in lexemes:
        if kind == "string":
            first = text.count("\n", start, begin)
            inside.update(range(first + 1, first + 1 + text.count("\n", begin, end)))
    return inside


def _until_closed(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    end = len(text) - 1  # the brace that ends the text
    for lexeme in _tokenized(text, start):
        if lexeme[1] >= end:
            return
        yield lexeme


def _physical_lines(text: str, start: int, end: int) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    for line in text[start:end].split("\n"):
        lines.append((start, line))
        start += len(line) + 1
    return lines


def _strip_margin(pieces: list[tuple[int, str]], frozen: set[int], *, inline: bool, extra: str) -> Body:
    """The margin is the indentation of the first line of code; a line that has less loses what it has."""
    margin = _margin(pieces[1:] if inline else pieces)
    lines: list[str] = []
    starts: list[int] = []
    for number, (offset, line) in enumerate(pieces):
        if number in frozen:
            kept, added = line, ""
        elif inline and number == 0:
            kept, added = line.lstrip(), ""
        else:
            kept, added = _without(line, margin), extra
        starts.append(offset + len(line) - len(kept) - len(added))
        ends_in_string = number + 1 in frozen
        lines.append(added + kept if ends_in_string else (added + kept).rstrip() if kept.strip() else "")
    return Body("\n".join(lines), tuple(starts) or (0,))


def _margin(pieces: list[tuple[int, str]]) -> str:
    code = [line for _, line in pieces if line.strip()]
    first = next((line for line in code if not line.lstrip().startswith("#")), code[0] if code else "")
    return first[: len(first) - len(first.lstrip())]


def _without(line: str, margin: str) -> str:
    common = 0
    while common < min(len(margin), len(line)) and line[common] == margin[common]:
        common += 1
    return line[common:]
