"""Stage 2: what the logics' parsers share: lark grammars turned into formulas, and lark's errors into ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from mopsus.logics.logic import FormulaError
from mopsus.spec.diagnostics import suggest

if TYPE_CHECKING:
    from lark import Lark, Token, Transformer


def load_grammar(path: Path, transformer: Transformer[Token, object]) -> Lark:
    """An LALR parser for a grammar file that builds its result while it parses.

    Building during the parse needs no recursion over a tree, so long inputs cannot exhaust the stack.
    """
    from lark import Lark

    return Lark(path.read_text(encoding="utf-8"), parser="lalr", lexer="contextual", transformer=transformer)


def run_parser(parser: Lark, text: str, words: Mapping[str, str], settle: Callable[[Token], None] | None = None) -> Any:  # noqa: ANN401 - each logic has its own formulas
    """Parse `text`; a syntax error becomes a `FormulaError` at its place.

    `words` says, by terminal name, how to call a terminal in a message. `settle` may change
    the type of a token before the parser sees it, for grammars in which that depends on the spec.
    """
    from lark import Token
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    try:
        if settle is None:
            return parser.parse(text)
        stepwise = parser.parse_interactive(text)
        for token in stepwise.iter_parse():
            settle(token)
        return stepwise.feed_token(Token("$END", "", len(text)))
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        _refuse(f"unexpected character '{text[at]}'", at, 1, error.allowed or (), words)
    except UnexpectedToken as error:
        expected = error.accepts or error.expected
        if error.token.type == "$END":
            # The caret goes just behind the last thing written.
            _refuse("the formula ends too early", len(text.rstrip()), 1, expected, words)
        _refuse(f"unexpected '{error.token}'", error.token.start_pos or 0, len(error.token), expected, words)
    except UnexpectedInput as error:
        _refuse("the formula is not well formed", error.pos_in_stream or 0, 1, (), words)


def _refuse(what: str, offset: int, length: int, expected: Iterable[str], words: Mapping[str, str]) -> NoReturn:
    names = sorted({words.get(name, name.lower()) for name in expected if not name.startswith("__")})
    hint = f"expected {_listing(names)}" if names else ""
    raise FormulaError(what, offset=offset, length=length, hint=hint) from None


def _listing(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def suggestion(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the nearest known one, else all of them."""
    names = sorted(known)
    near = suggest(name, names)
    if near is not None:
        return f"did you mean '{near}'?"
    return "there is: " + ", ".join(names) if names else ""
