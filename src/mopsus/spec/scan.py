"""Stage 1: cut a `.mop` text into items (a header, an event, a property, …) and each item into tokens for the grammar.

Formulas, Python and pointcut arguments are other languages: each becomes one raw token. Because
every item is parsed on its own, an error in one does not hide errors in the next.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from mopsus.spec import pytext
from mopsus.spec.diagnostics import suggest
from mopsus.spec.errors import Findings
from mopsus.spec.formula import COMMENT, GAP, STATED, STRING, comments_of_states, normalise
from mopsus.spec.pointcuts import PRIMITIVES

KEYWORDS = ("creation", "event", "var")
"""These begin an item wherever they begin a line, so nothing else can have their names."""
SETTINGS = ("severity", "doc")
CLAUSES = ("before", "after", "around", "returning", "raising", "throwing")

_NAME = r"[^\W\d]\w*"
_SPACE = re.compile(r"\s+")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*(?:(?!\*/).)*+\*/", re.DOTALL)
_PLAIN = re.compile(_NAME)
_HYPHENED = re.compile(rf"{_NAME}(?:[.-]{_NAME})*")
_ITEM = rf"(?:(?:{'|'.join(KEYWORDS)})\b|@|\}}|{_NAME}(?:-{_NAME})*[ \t]*:(?!:))"
_HEADER = r"[^\W\d][^\n(){}@:]*+(?:\([^()\n]*+\)[ \t]*+)?\{"
_LABEL = re.compile(rf"({_NAME}(?:-{_NAME})*)\s*:")
_RESUME = re.compile(rf"^(?:[ \t]*+(?={_ITEM})|(?={_HEADER}))", re.MULTILINE)
_AT_ITEM = re.compile(_ITEM)
_AT_HEADER = re.compile(_HEADER)
_AT_IMPORT = re.compile(r"(?:import|from)\b")
_STOP = rf"(?P<stop>(?<!\w)@|\}}|^[ \t]*+(?={_ITEM})|^(?!state\b|initialization\b)(?={_HEADER}))|(?P<brace>\{{)"
_FORMULA_STOP = re.compile(
    rf"(?P<comment>{COMMENT})|(?P<unclosed>/\*)|(?P<string>{STRING})|(?P<bracket>[()\[\]])|{_STOP}",
    re.DOTALL | re.MULTILINE,
)
_STATES_STOP = re.compile(rf"(?P<comment>#[^\n]*)|{_STOP}", re.MULTILINE)
"""The same for formulas of states, whose comments are those of Python."""
_SLASH_COMMENT = re.compile(r"//|/\*")
_SEMICOLON = re.compile(r"[ \t]*;")
_ASSIGN = re.compile(r"(?<![=!<>])=(?!=)")
_CONNECTIVES = {"and": "&&", "or": "||", "&": "&&", "|": "||", "not": "!"}
"""What is written for them in other languages, and what is meant."""
_CONNECTIVE = re.compile(r"&&?|\|\|?|(?:and|or)\b")
_MAX_NESTING = 50
_MAX_UNCLOSED = 2
"""After so many brackets without end, what follows is not worth guessing at."""


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A token and where it stands. Signs and keywords are their own type; other types are in capital letters."""

    type: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class Item:
    """One item with the comments that go with it. `broken`: an error in it was reported already."""

    start: int
    lexemes: list[Lexeme] = field(default_factory=list)
    end: int = 0
    leading: list[str] = field(default_factory=list)
    trailing: list[str] = field(default_factory=list)
    broken: bool = False


@dataclass(slots=True)
class RawSpec:
    """A specification as items; `closing` has the comments before its last brace."""

    header: Item
    items: list[Item] = field(default_factory=list)
    closing: Item = field(default_factory=lambda: Item(0))


@dataclass(slots=True)
class RawFile:
    """A file as items; `ending` has the comments after the last of them."""

    imports: list[Item] = field(default_factory=list)
    specs: list[RawSpec] = field(default_factory=list)
    ending: Item = field(default_factory=lambda: Item(0))


def scan(findings: Findings) -> RawFile:
    """Cut the text of `findings.source` into items. What cannot be an item is reported and skipped."""
    return _Scanner(findings).file()


def scan_pointcut(findings: Findings) -> Item:
    """The tokens of a text that is a pointcut and nothing else."""
    return _Scanner(findings).pointcut_only()


class _Scanner:
    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.source = findings.source
        self.text = findings.source.text
        self.at = 0
        self.comments: list[tuple[int, str]] = []
        self.last: Item | None = None
        self.unclosed_count = 0

    # --- the file and its specs

    def file(self) -> RawFile:
        file = RawFile()
        while self.more() and not self.findings.full:
            if _AT_IMPORT.match(self.text, self.at):
                file.imports.append(self.import_line())
            elif self.text[self.at] == "}":
                self.complain(self.at, self.at + 1, "'}' closes nothing", "remove it, or add the missing '{' before")
                self.at += 1
            elif self.at_item():
                hint = "write 'Name(parameters) { … }' around it"
                self.complain(self.at, self.line_end(), "this stands outside of any specification", hint)
                self.item()
            else:
                self.spec(file)
        file.ending = self.begin()
        return file

    def import_line(self) -> Item:
        item = self.begin()
        end = pytext.expression_end(self.text, self.at)
        comment = _SLASH_COMMENT.search(self.text, self.at, end)
        self.raw("IMPORT", item, comment.start() if comment else end)
        self.separator()
        return self.finish(item)

    def spec(self, file: RawFile) -> None:
        raw = RawSpec(self.header())
        file.specs.append(raw)
        opened = bool(raw.header.lexemes) and raw.header.lexemes[-1].type == "{"
        if not opened and not self.at_item():
            return
        while self.more():
            if self.text[self.at] == "}":
                raw.closing = self.begin()
                self.at += 1
                raw.closing.end = self.at
                self.last = raw.closing
                return
            if self.findings.full:
                self.at = len(self.text)
                return
            if self.at_new_spec():
                break
            item = self.item()
            if item is not None:
                raw.items.append(item)
        if opened:
            brace = raw.header.lexemes[-1]
            hint = "add '}' after the spec; a '}' in a comment or a string closes nothing"
            self.findings.error_at("SPEC-002", "this '{' is never closed", brace.start, brace.end, hint)

    def header(self) -> Item:
        item = self.begin()
        while self.more() and not (item.lexemes and self.at_line_start() and (self.at_item() or self.at_import())):
            if self.text[self.at] == "}":
                break
            word = _HYPHENED.match(self.text, self.at)
            if word:
                self.take("by" if word.group() == "by" else "WORD", item, word.end())
            else:
                self.punctuation(item)
                if item.lexemes[-1].type == "{":
                    break
        return self.finish(item)

    # --- what stands in a spec

    def item(self) -> Item | None:
        item = self.begin()
        word = _PLAIN.match(self.text, self.at)
        label = _LABEL.match(self.text, self.at)
        if word and word.group() in ("event", "creation"):
            self.event(item)
        elif word and word.group() == "var":
            self.variable(item)
        elif label:
            read = self.setting if label[1] in SETTINGS else self.formula
            read(item, label)
        elif self.text[self.at] == "@":
            self.handler(item)
        else:
            self.junk()
            return None
        self.separator()
        return self.finish(item)

    def event(self, item: Item) -> None:
        for keyword in ("creation", "event"):
            if self.more() and self.word() == keyword:
                self.take(keyword, item, self.at + len(keyword))
        if self.more() and self.word() and not (self.at_line_start() and self.at_item()):
            self.take("WORD", item, self.at + len(self.word()))
        while self.more():
            word = self.word()
            if self.text[self.at] == "(":
                self.names(item)
            elif word in CLAUSES or self.at_unknown_clause(word):
                self.take("WORD", item, self.at + len(word))
            else:
                break
        if self.more() and self.text[self.at] == ":":
            self.punctuation(item)
            self.pointcut(item)
        if self.more() and not item.broken and self.text[self.at] == "{":
            self.body(item)

    def at_unknown_clause(self, word: str) -> bool:
        """Is this a misspelt clause rather than the next item or a pointcut without its colon?"""
        known = word in KEYWORDS or word in PRIMITIVES or word == "condition"
        return bool(word) and not known and not self.at_line_start() and self.follows(word, "(")

    def names(self, item: Item) -> None:
        """A parenthesised list, up to its parenthesis, a brace or a line that begins another item."""
        while self.more() and self.text[self.at] not in "{}" and not (self.at_line_start() and self.at_item()):
            word = _HYPHENED.match(self.text, self.at)
            if word:
                self.take("WORD", item, word.end())
            else:
                self.punctuation(item)
                if item.lexemes[-1].type == ")":
                    return

    def pointcut(self, item: Item) -> None:
        depth, negations, operand = 0, 0, True
        while self.more() and not item.broken:
            if depth + negations > _MAX_NESTING:
                self.complain(self.at, self.at + 1, "this pointcut is nested too deeply", "simplify it")
                self.skip(item)
            elif operand:
                word = self.word()
                if self.text[self.at] == "(":
                    depth += 1
                    self.punctuation(item)
                elif self.text[self.at] == "!" or word == "not":
                    negations += 1
                    self.connective(item, word or "!")
                elif word and word not in KEYWORDS and not self.at_property():
                    negations, operand = 0, False
                    self.primitive(item, word)
                else:
                    return
            elif connective := _CONNECTIVE.match(self.text, self.at):
                operand = True
                self.connective(item, connective.group())
            elif self.text[self.at] == ")" and depth:
                depth -= 1
                self.punctuation(item)
            else:
                return

    def pointcut_only(self) -> Item:
        item = self.begin()
        self.pointcut(item)
        if self.more() and not item.broken:
            self.punctuation(item)
        return self.finish(item)

    def primitive(self, item: Item, word: str) -> None:
        self.take("WORD", item, self.at + len(word))
        if not self.more() or self.text[self.at] != "(":
            return
        end = pytext.closing(self.text, self.at)
        if end is None:
            self.unclosed("SPEC-005", item, f"the '(' of '{word}' is never closed", "add ')'")
            return
        item.lexemes.append(Lexeme("ARGUMENT", self.text[self.at + 1 : end], self.at + 1, end))
        self.at = end + 1

    def connective(self, item: Item, written: str) -> None:
        end = self.at + len(written)
        meant = _CONNECTIVES.get(written, written)
        if written != meant:
            self.findings.error_at("SPEC-016", f"'{written}' does not join pointcuts", self.at, end, f"write '{meant}'")
        self.take(meant, item, end)

    def variable(self, item: Item) -> None:
        self.take("var", item, self.at + len("var"))
        if self.more() and self.word() and not self.at_line_start():
            self.take("WORD", item, self.at + len(self.word()))
        if self.on_line() and self.text[self.at] == ":":
            self.punctuation(item)
            self.more()
            end = pytext.expression_end(self.text, self.at)
            equal = _ASSIGN.search(self.text, self.at, end)
            self.raw("TYPE", item, equal.start() if equal else end)
        if self.on_line() and self.text[self.at] == "=":
            self.punctuation(item)
            if self.on_line():
                self.raw("EXPRESSION", item, pytext.expression_end(self.text, self.at))

    def setting(self, item: Item, label: re.Match[str]) -> None:
        self.take("SETTING", item, label.end(1))
        self.more()
        self.punctuation(item)
        if self.on_line():
            end = pytext.string_end(self.text, self.at) or self.at + len(self.word())
            self.raw("VALUE", item, end if end > self.at else pytext.expression_end(self.text, self.at))

    def formula(self, item: Item, label: re.Match[str]) -> None:
        self.take("WORD", item, label.end(1))
        self.more()
        self.punctuation(item)
        gap = GAP.match(self.text, self.at)
        if _AT_ITEM.match(self.text, gap.end() if gap else self.at):
            return
        if label[1] in STATED:
            self.states(item)
            return
        start = end = self.at
        depth = 0
        while stop := _FORMULA_STOP.search(self.text, end):
            end = stop.start()
            if stop.lastgroup == "comment":
                self.comments.append((end, stop.group()))
                end = stop.end()
            elif stop.lastgroup in ("string", "bracket"):
                depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(stop.group(), 0)
                end = stop.end()
            elif stop.lastgroup == "brace" and (inner := self.inner_braces(end, depth)) is not None:
                end = inner
            elif stop.lastgroup == "brace":
                self.at = end
                hint = "a handler is written '@category { … }'"
                self.findings.error_at("SPEC-010", "a formula has no braces", end, end + 1, hint)
                self.skip(item)
                return
            else:
                break
        else:
            end = len(self.text)
        _, offsets = normalise(self.text[start:end])
        self.at = end
        if offsets:
            first, last = start + offsets[0], start + offsets[-1] + 1
            item.lexemes.append(Lexeme("FORMULA", self.text[first:last], first, last))

    def states(self, item: Item) -> None:
        """A formula of states, in which braces and comments are as in Python."""
        start = end = self.at
        while (stop := _STATES_STOP.search(self.text, end)) is not None and stop.lastgroup != "stop":
            closed = stop.end() - 1 if stop.lastgroup == "comment" else pytext.closing(self.text, stop.start())
            if closed is None:
                self.at = stop.start()
                self.unclosed("SPEC-003", item, "this '{' is never closed", "add '}'")
                return
            end = closed + 1
        end = len(self.text) if stop is None else stop.start()
        self.comments += [(start + at, text) for at, text in comments_of_states(self.text[start:end])]
        self.raw("FORMULA", item, end)

    def inner_braces(self, at: int, depth: int) -> int | None:
        """Where the braces at `at` end, if they are part of a formula: in its brackets, or after `<`."""
        if depth <= 0 and self.text[at - 1] != "<":
            return None
        closed = pytext.closing(self.text, at)
        return None if closed is None else closed + 1

    def handler(self, item: Item) -> None:
        self.punctuation(item)
        if self.on_line() and self.word():
            self.take("WORD", item, self.at + len(self.word()))
        if self.on_line() and self.text[self.at] == "[":
            while self.on_line() and self.text[self.at] not in "{}@":
                word = self.word()
                self.take("WORD", item, self.at + len(word)) if word else self.punctuation(item)
                if item.lexemes[-1].type == "]":
                    break
        if self.more() and self.text[self.at] == "{":
            self.body(item)

    def body(self, item: Item) -> None:
        end = pytext.closing(self.text, self.at)
        if end is None:
            hint = "add '}' on a line of its own"
            self.unclosed("SPEC-003", item, "the '{' of this Python body is never closed", hint)
            return
        item.lexemes.append(Lexeme("BODY", self.text[self.at + 1 : end], self.at + 1, end))
        self.at = end + 1

    # --- recovery

    def junk(self) -> None:
        """Report what begins no item and skip it, with the braces that belong to it."""
        word = self.word()
        end = self.at + len(word or self.text[self.at])
        self.complain(self.at, end, f"unexpected '{self.text[self.at : end]}'", self.junk_hint(word))
        brace = self.text.find("{", self.at, self.line_end())
        self.at = end
        if brace >= 0 and (closed := pytext.closing(self.text, brace)) is not None:
            self.at = closed + 1
        else:
            self.resume()

    def junk_hint(self, word: str) -> str:
        beside = self.last is not None and "\n" not in self.text[self.last.end : self.at]
        if beside and self.last is not None and [lexeme.type for lexeme in self.last.lexemes[:1]] == ["@"]:
            return "a handler's body stands in braces"
        if word in PRIMITIVES or word == "condition":
            return "a pointcut follows ':', and its parts are joined by '&&' or '||'"
        if word in SETTINGS:
            return f"write '{word}: …'"
        if word and self.follows(word, "("):
            return f"write 'event {word}(…)' to declare an event"
        near = suggest(word, (*KEYWORDS, *SETTINGS))
        if near:
            return f"did you mean '{near}'?"
        return "expected an event, a property ('logic : formula'), a handler ('@category'), 'var' or '}'"

    def unclosed(self, code: str, item: Item, message: str, hint: str) -> None:
        self.findings.error_at(code, message, self.at, self.at + 1, hint)
        self.unclosed_count += 1
        item.broken = True
        self.resume()

    def skip(self, item: Item) -> None:
        item.broken = True
        if self.text[self.at : self.at + 1] == "{" and (closed := pytext.closing(self.text, self.at)) is not None:
            self.at = closed + 1
        else:
            self.resume()

    def resume(self) -> None:
        """Go to the next line that begins an item or a spec."""
        line_end = self.line_end()
        brace = self.text.find("}", self.at, line_end)
        found = _RESUME.search(self.text, line_end)
        self.at = brace if brace >= 0 else found.end() if found else len(self.text)
        if self.unclosed_count >= _MAX_UNCLOSED:
            self.at = len(self.text)

    def complain(self, start: int, end: int, message: str, hint: str) -> None:
        self.findings.error_at("SPEC-001", message, start, end, hint)

    # --- moving on

    def more(self) -> bool:
        """Skip space and comments; is there anything after them?"""
        while self.at < len(self.text):
            if space := _SPACE.match(self.text, self.at):
                self.at = space.end()
            elif comment := _COMMENT.match(self.text, self.at):
                self.comments.append((self.at, comment.group()))
                self.at = comment.end()
            elif self.text.startswith("/*", self.at):
                self.findings.error_at("SPEC-004", "this comment is never closed", self.at, self.at + 2, "add '*/'")
                self.at = len(self.text)
            else:
                return True
        return False

    def on_line(self) -> bool:
        """Skip space and comments; is there anything after them on the same line?"""
        line = self.source.line_start(self.at)
        return self.more() and self.source.line_start(self.at) == line

    def separator(self) -> None:
        """An item may be ended by a semicolon."""
        match = _SEMICOLON.match(self.text, self.at)
        if match:
            self.at = match.end()

    def word(self) -> str:
        match = _PLAIN.match(self.text, self.at)
        return match.group() if match else ""

    def follows(self, word: str, what: str) -> bool:
        after = _SPACE.match(self.text, self.at + len(word))
        next_at = after.end() if after else self.at + len(word)
        return self.text[next_at : next_at + 1] == what

    def at_property(self) -> bool:
        return _LABEL.match(self.text, self.at) is not None

    def at_line_start(self) -> bool:
        return not self.text[self.source.line_start(self.at) : self.at].strip()

    def at_item(self) -> bool:
        return _AT_ITEM.match(self.text, self.at) is not None

    def line_end(self) -> int:
        end = self.text.find("\n", self.at)
        return end if end >= 0 else len(self.text)

    def at_import(self) -> bool:
        return _AT_IMPORT.match(self.text, self.at) is not None

    def at_new_spec(self) -> bool:
        """Does an unindented line begin another spec although this one is open?"""
        unindented = self.source.line_start(self.at) == self.at
        return unindented and not self.at_item() and _AT_HEADER.match(self.text, self.at) is not None

    # --- tokens

    def begin(self) -> Item:
        """A new item here, with the comments since the last one."""
        item = Item(self.at)
        for start, text in self.comments:
            beside = self.last is not None and "\n" not in self.text[self.last.end : start]
            (self.last.trailing if beside and self.last else item.leading).append(text)
        self.comments = []
        return item

    def finish(self, item: Item) -> Item:
        """End an item after its last token; comments inside it go before it."""
        item.end = item.lexemes[-1].end if item.lexemes and not item.broken else self.at
        if item.lexemes and item.lexemes[-1].type in ("BODY", "ARGUMENT"):
            item.end += 1  # the bracket that closes it
        inside = [text for start, text in self.comments if start < item.end]
        item.leading += inside
        self.comments = self.comments[len(inside) :]
        self.last = item
        return item

    def take(self, kind: str, item: Item, end: int) -> None:
        # Names are normalised because Python does so with those in bodies, which must stay the same names.
        item.lexemes.append(Lexeme(kind, unicodedata.normalize("NFKC", self.text[self.at : end]), self.at, end))
        self.at = end

    def raw(self, kind: str, item: Item, end: int) -> None:
        """A raw token up to `end` without the space before it."""
        text = self.text[self.at : end].rstrip()
        if text:
            item.lexemes.append(Lexeme(kind, text, self.at, self.at + len(text)))
        self.at = max(end, self.at)

    def punctuation(self, item: Item) -> None:
        self.take(self.text[self.at], item, self.at + 1)
