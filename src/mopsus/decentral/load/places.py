"""Where the keys of a TOML file stand, which the parser of the standard library does not tell.

Found by the look of lines; where a key is written in a way that this does not see, the place is that of the nearest
table around it.
"""

from __future__ import annotations

import re

from mopsus.decentral.load.written import Origin, Written

_PART = re.compile(r"""\s*(?:"([^"\\]*)"|'([^']*)'|([\w-]+))\s*(\.?)""")
_HEADER = re.compile(r"""\s*+(\[\[?+)((?:"(?:[^"\\]|\\.)*+"|'[^']*+'|[^]"'#])*+)\]\]?+\s*+(?:#.*)?""")
_KEY = re.compile(r"""\s*+((?:"[^"\\]*+"|'[^']*+'|[\w-]++|\s*+\.\s*+)++)\s*+=""")
_PLAIN = re.compile(r"""\s*(?:"([^"\\]*)"|'([^']*)')""")


class Places:
    """The keys of a text by their path; of several tables of one array, the number is part of the path."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self._lines = tuple(text.split("\n"))
        self._keys: dict[tuple[str, ...], Origin] = {}
        self._values: dict[tuple[str, ...], tuple[str, Origin]] = {}
        table: tuple[str, ...] = ()
        counts: dict[tuple[str, ...], int] = {}
        for number, line in enumerate(self._lines, 1):
            if header := _HEADER.fullmatch(line):
                table = _path(header[2])
                self._note(table, number, header.start(2))
                if header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                    table = (*table, str(counts[table]))
                    self._note(table, number, header.start(2))
            elif key := _KEY.match(line):
                path = table + _path(key[1])
                self._note(path, number, key.start(1))
                if plain := _PLAIN.match(line, key.end()):
                    group = 1 if plain[1] is not None else 2
                    self._values.setdefault(path, (plain[group], Origin(0, number, plain.start(group) + 1)))

    def key(self, *path: str) -> Written:
        """The last name of a path that is found, with its place; the first of the file if none is."""
        for size in range(len(path), 0, -1):
            if origin := self._keys.get(path[:size]):
                return self._written(path[size - 1], origin)
        return self._written("", Origin(0, 1, 1))

    def name(self, text: str, *path: str) -> Written:
        """A text that stands for the key of this path, or for something in it."""
        origin = self.key(*path).origins[0]
        return self._written(text, origin._replace(inserted=text != path[-1]))

    def value(self, text: str, *path: str) -> Written:
        """The text that is the value of a key; its characters have places if it is written on one line as it is."""
        for each in (path, path[:-1]):
            found = self._values.get(each)
            if found is not None and found[0] == text:
                return self._written(text, found[1])
        return self._written(text, self.key(*path).origins[0]._replace(inserted=True))

    def at(self, line: int, column: int) -> Written:
        """A place by line and column."""
        return self._written("", Origin(0, line, column))

    def end(self) -> Written:
        """The end of the file."""
        return self._written("", Origin(0, len(self._lines), len(self._lines[-1]) + 1))

    def _note(self, path: tuple[str, ...], line: int, column: int) -> None:
        self._keys.setdefault(path, Origin(0, line, column + 1))

    def _written(self, text: str, origin: Origin) -> Written:
        return Written(text, self._file, self._lines, (origin,))


def _path(text: str) -> tuple[str, ...]:
    return tuple(part[1] or part[2] or part[3] or "" for part in _PART.finditer(text))
