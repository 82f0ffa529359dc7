"""Random programs in C: functions with arguments and results of many types, which call each other, and scripts."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

WHOLE = {
    "int": ("0", "1", "2", "-1"),
    "unsigned": ("0", "1", "4294967295u"),
    "short": ("0", "1", "-1"),
    "unsigned short": ("1", "65535"),
    "char": ("0", "1", "'a'"),
    "signed char": ("-1", "1"),
    "unsigned char": ("1", "255"),
    "long": ("0", "1", "-1"),
    "unsigned long": ("1", "2", "18446744073709551615ul"),
    "long long": ("1", "-1", "1ll << 40"),
    "bool": ("true", "false"),
    "enum colour": ("RED", "GREEN", "FAR"),
    "small": ("0", "1", "3"),
}
"""Types that the agent reads, with values that meet often, and at the ends of what they can hold."""
POINTERS = {
    "int *": ("&cells[0]", "&cells[1]", "(int *) 0"),
    "struct item *": ("&items[0]", "&items[1]"),
    "const char *": ("words[0]", "words[1]", "(const char *) -1"),
    "void *": ("&cells[0]", "&items[1]", "(void *) -1"),
}
OTHERS = {
    "float": ("0.5f", "1.0f"),
    "double": ("1.0", "2.5"),
    "struct pair": ("(struct pair){1, 2}", "(struct pair){2, 1}"),
    "struct large": ("(struct large){{1, 2, 3, 4}}",),
    "long double": ("1.0l",),
    "__int128": ("1",),
}
"""Types that take part in how a function is called, and make some hooks impossible."""
TYPES = WHOLE | POINTERS | OTHERS

HEAD = """\
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
enum colour { RED, GREEN, FAR = -5 };
typedef unsigned char small;
struct item { int kind; struct item *next; };
struct pair { int left; long right; };
struct large { long of[4]; };
int cells[4] = {1, 2, 1, 0};
struct item items[2];
const char *const words[2] = {"one", "two"};
volatile int fuel;
int limit = 1;
static bool flag;
volatile long sum;
"""
GLOBALS = {"limit": "int", "flag": "bool", "sum": "long"}

MAIN = """
static void *in_thread(void *script) { ((void (*)(void)) script)(); return 0; }
int main(int count, char **arguments) {
    int number = count > 1 ? atoi(arguments[1]) : 0;
    if (count > 2) {
        pthread_t thread;
        pthread_create(&thread, 0, in_thread, (void *) scripts[number]);
        pthread_join(thread, 0);
    }
    scripts[number]();
    printf("%ld %d %d %d %d\\n", sum, cells[0], cells[1], limit, flag);
    return (int) sum & 63;
}
"""


@dataclass(frozen=True)
class Function:
    """One of them; parameters by name and type."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str

    @property
    def head(self) -> str:
        return f"{self.result} {self.name}({', '.join(f'{kind} {name}' for name, kind in self.parameters) or 'void'})"


@dataclass(frozen=True)
class Program:
    source: str
    functions: tuple[Function, ...]
    scripts: int


def random_program(random: Random, functions: int = 8, scripts: int = 6) -> Program:
    made = tuple(_function(random, number) for number in range(functions))
    parts = [HEAD, *(f"{each.head};" for each in made), *(_definition(random, each, made) for each in made)]
    parts += [_script(random, number, made) for number in range(scripts)]
    parts.append(f"static void (*const scripts[])(void) = {{{', '.join(f'script{k}' for k in range(scripts))}}};")
    return Program("\n".join(parts) + MAIN, made, scripts)


def _type(random: Random) -> str:
    return random.choice(list(random.choices((WHOLE, POINTERS, OTHERS), (6, 3, 1))[0]))


def _function(random: Random, number: int) -> Function:
    count = random.choice((0, 1, 1, 2, 2, 3, 4, 8))
    parameters = tuple((f"p{k}", _type(random)) for k in range(count))
    return Function(f"f{number}", parameters, random.choice(("void", "int", "int", "int *", _type(random))))


def _definition(random: Random, function: Function, others: tuple[Function, ...]) -> str:
    attribute = random.choice(("noinline", "noipa", "noinline, noclone"))
    body = "\n    ".join(_tiny(random, function) if random.random() < 0.25 else _body(random, function, others))
    return f"__attribute__(({attribute})) {function.head} {{\n    {body}\n}}"


def _tiny(random: Random, function: Function) -> list[str]:
    """A body of an instruction or two."""
    lines = [f"if ({name}) *{name} = 2;" for name, kind in function.parameters[:1] if kind == "int *"]
    if function.result == "void":
        return lines
    tested = [name for name, kind in function.parameters if kind in WHOLE or kind in POINTERS]
    one, other = (random.choice(TYPES[function.result]) for _ in range(2))
    value = f"{random.choice(tested)} ? {one} : {other}" if tested and random.random() < 0.5 else one
    return [*lines, f"return {value};"]


def _body(random: Random, function: Function, others: tuple[Function, ...]) -> list[str]:
    lines = [f"sum += {random.randint(1, 9)};"]
    for name, kind in function.parameters:
        if kind == "int *":
            lines.append(f"if ({name}) {{ sum += *{name}; *{name} = (*{name} + 1) % 3; }}")
        elif kind in WHOLE and random.random() < 0.5:
            lines.append(f"sum += {name}; {name} = ({kind}) !{name};")
    if random.random() < 0.3:
        lines.append(random.choice(("limit = !limit;", "flag = !flag;", 'printf("%ld ", sum);')))
    if random.random() < 0.5:
        other = random.choice(others)
        lines.append(f"if (fuel > 0) {{ fuel--; {_call(random, other)}; }}")
    if function.result == "void":
        end = f"if (fuel > 0) {{ fuel--; {_call(random, random.choice(others))}; }}" if random.random() < 0.3 else ""
    else:
        same = [each for each in others if each.result == function.result]
        given = [name for name, kind in function.parameters if kind == function.result]
        value = random.choice([*TYPES[function.result], *given])
        tail = f"if (fuel > 0) {{ fuel--; return {_call(random, random.choice(same))}; }} "
        end = f"{tail if random.random() < 0.4 else ''}return {value};"
    return [*lines, end]


def _call(random: Random, function: Function) -> str:
    given = ", ".join(random.choice(TYPES[kind]) for _, kind in function.parameters)
    return f"{function.name}({given})"


def _script(random: Random, number: int, functions: tuple[Function, ...]) -> str:
    used = random.sample(functions, random.randint(2, 4))
    lines = []
    for _ in range(random.randint(4, 12)):
        function = random.choice(used)
        line = f"fuel = {random.randint(0, 3)}; {_call(random, function)};"
        if random.random() < 0.2:
            line = f"for (int i = 0; i < 3; i++) {{ {line} }}"
        elif random.random() < 0.2:
            kinds = ", ".join(kind for _, kind in function.parameters) or "void"
            pointer = f"{function.result} (*volatile pointer)({kinds}) = {function.name};"
            line = f"{{ {pointer} {line.replace(f'{function.name}(', 'pointer(')} }}"
        lines.append(line)
    return f"static void script{number}(void) {{\n    " + "\n    ".join(lines) + "\n}"
