"""Hooks in what compilers make: all that a program can notice of its registers, its code and its data is as it was."""

from __future__ import annotations

import re

import pytest
from interactive.gdb.hooked.runs import Case, Watched, differences, run_cases
from interactive.gdb.hooked.specs import Property
from interactive.gdb.programs import build

pytestmark = pytest.mark.gdb


def check(program, spec: str, *, unhooked: tuple[str, ...] = ()) -> None:
    """Hooks and traps agree, and all functions have hooks but these."""
    case = [Case(program, "", (Watched(Property(spec, ".mop")),), (("backtrace", "continue"),))]
    (hooked,), (trapped,) = (run_cases(case, hooks=hooks) for hooks in (True, False))
    assert differences(hooked, trapped) == ""
    assert sorted(hooked.unhooked) == sorted(unhooked)
    assert trapped.arrivals > 4 * hooked.arrivals


NEAR = """
    #include <stdio.h>
    int total = 3;
    __attribute__((noinline)) int add(int x) { total += x; return total; }
    __attribute__((noinline)) int *where(void) { return &total; }
    __attribute__((noinline)) int set(int x) { total = 7; return x; }
    int main(void) {
        int sum = 0;
        for (int i = 0; i < 20; i++) sum += add(i & 1) + *where() + set(i & 3);
        printf("%d\\n", sum);
    }
"""


@pytest.mark.parametrize("flags", [("-g", "-O2"), ("-g", "-O2", "-no-pie"), ("-g", "-O1")], ids=" ".join)
def test_instructions_that_name_what_is_near_are_moved(flags):
    spec = """
        Near(x) {
            event add before(x) : call(add) && value(x = arg 1)
            event where before(x) : call(where) && value(x = total)
            event set before(x) : call(set) && value(x = x)
            fsm :
                begun [ add -> begun set -> seen where -> begun ]
                seen [ add -> seen set -> seen ]
            @fail { }
        }
    """
    check(build(NEAR, *flags), spec)


KEPT = """
    #include <stdio.h>
    static int base = 1;
    static __attribute__((noinline, noclone)) int small(int x) { return x + base; }
    static __attribute__((noinline, noclone)) long mix(long a, long b, long c, long d, long e, long f) {
        long r = 0;
        for (int i = 0; i < 20; i++) {
            r += a * small(i) + b; r ^= c * small(i + 1) + d; r += e * small(i + 2) + f;
            a += r; b ^= a; c += b; d ^= c; e += d; f ^= e;
        }
        return r;
    }
    int main(int count, char **words) { printf("%ld\\n", mix(count, 2, 3, 4, 5, 6)); base = 2; return small(5); }
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_registers_are_kept_that_a_call_might_change(when):
    spec = f"""
        Kept() {{
            event small {when}() : call(small)
            event mix {when}() : call(mix)
            fsm :
                begun [ small -> begun mix -> over ]
                over [ mix -> over ]
            @fail {{ }}
        }}
    """
    check(build(KEPT, "-g", "-O2", "-fipa-ra"), spec)


WORDS = """
    #include <stdbool.h>
    #include <stdio.h>
    unsigned long huge(unsigned long x) { return x / 2; }
    long below(long x) { return x / 2; }
    bool yes(bool x) { return !x; }
    double part(double x) { return x / 2; }
    int main(void) {
        for (int i = 0; i < 20; i++) { huge(i % 2 ? -1ul : 1); below(i % 3 ? -1 : 1); yes(i % 2); part(i % 2); }
        below(-1);
        puts("end");
    }
"""


def test_values_with_the_same_bits_are_told_apart():
    spec = """
        Apart(x) {
            event huge before(x) : call(huge) && value(x = x)
            event below before(x) : call(below) && value(x = x)
            event yes before(x) : call(yes) && value(x = x)
            event part before(x) : call(part) && value(x = x)
            fsm :
                begun [ huge -> large below -> small yes -> truth part -> fraction ]
                large [ huge -> large ]
                small [ below -> small ]
                truth [ yes -> truth ]
                fraction [ part -> fraction ]
            @fail { }
        }
    """
    (hooked,), (trapped,) = (
        run_cases([Case(build(WORDS), "", (Watched(Property(spec, ".mop")),))], hooks=hooks) for hooks in (True, False)
    )
    assert differences(hooked, trapped) == ""
    assert len(trapped.seen["verdicts"]) == 1, "1 is both large and small"
    assert hooked.unhooked.keys() in ({"part", "yes"}, {"part", "huge", "below"}), "one sort of values has hooks"


BOTH = """
    #include <stdio.h>
    int step(int x) { return x + 1; }
    int main(void) {
        int sum = 0;
        for (int i = 0; i < 20; i++) sum += step(i % 4);
        printf("%d\\n", sum);
    }
"""


def test_a_call_that_is_handled_at_its_entry_returns_once():
    entries = """
        Entries(x) {
            event step before(x) : call(step) && value(x = x)
            fsm :
                begun [ step -> first ]
                first [ step -> second ]
                second [ step -> second ]
            @second { }
        }
    """
    returns = """
        Returns(x) {
            event step after(x) : call(step) && value(x = arg 1)
            fsm :
                none [ step -> one ]
                one [ step -> two ]
                two [ step -> three ]
                three [ step -> four ]
                four [ ]
            @four { }
            @fail { }
        }
    """
    specs = tuple(Watched(Property(text, ".mop")) for text in (entries, returns))
    case = [
        Case(
            build(BOTH),
            "",
            specs,
            (("backtrace", "up", "info locals", "continue"), ("finish", "backtrace", "continue")),
        )
    ]
    (hooked,), (trapped,) = (run_cases(case, hooks=hooks) for hooks in (True, False))
    assert differences(hooked, trapped) == ""
    assert not hooked.unhooked


def test_a_hook_that_makes_way_for_a_breakpoint_comes_back():
    spec = """
        Often(x) {
            event step before(x) : call(step) && value(x = x)
            fsm :
                one [ step -> two ]
                two [ step -> three ]
                three [ step -> three ]
            @two { }
        }
    """
    ways = (("break step", "continue"), ("backtrace", "delete", "continue"), ("hbreak step", "continue"))
    case = [Case(build(BOTH.replace("< 20", "< 400")), "", (Watched(Property(spec, ".mop")),), ways)]
    (hooked,), (trapped,) = (run_cases(case, hooks=hooks) for hooks in (True, False))
    assert differences(hooked, trapped) == ""
    assert not hooked.unhooked
    assert trapped.arrivals > 300 > 50 > hooked.arrivals


RECURSIVE = """
    #include <stdio.h>
    volatile long sum;
    __attribute__((noinline, noclone)) int down(int x) {
        sum += x;
        if (x > 0) { sum++; down(x - 1); }
        return 0;
    }
    int main(void) {
        for (int i = 0; i < 20; i++) { down(i % 4); sum++; }
        printf("%ld\\n", sum);
    }
"""


@pytest.mark.parametrize("flags", [("-g", "-O0"), ("-g", "-O2", "-fno-optimize-sibling-calls")], ids=" ".join)
def test_steps_out_of_a_recursion_end_where_they_do_without_hooks(flags):
    spec = """
        Down() {
            event down after() : call(down)
            fsm :
                one [ down -> two ]
                two [ down -> one ]
            @two { }
        }
    """
    ways = tuple((step, "backtrace", "continue") for step in ("next", "step", "until", "finish"))
    case = [Case(build(RECURSIVE, *flags), "", (Watched(Property(spec, ".mop")),), ways)]
    (hooked,), (trapped,) = (run_cases(case, hooks=hooks) for hooks in (True, False))
    assert differences(hooked, trapped) == ""
    assert not hooked.unhooked


TINY = """
    #include <stdio.h>
    struct item { int kind; struct item *next; };
    #define OWN __attribute__((noinline, noipa))
    OWN int get(struct item *x) { return x->kind; }
    OWN void set(struct item *x) { x->kind = 1; }
    OWN struct item *same(struct item *x) { return x; }
    OWN void none(struct item *x) { }
    OWN int tail(struct item *x) { return get(x); }
    OWN int maybe(struct item *x) { return x ? get(x) : 7; }
    OWN int choose(struct item *x) { if (!x->kind) return 3; set(x); return 4; }
    OWN struct item *last(struct item *x) { while (x->next) x = x->next; return x; }
    int (*volatile through)(struct item *) = get;
    OWN int indirect(struct item *x) { return through(x); }
    int main(void) {
        struct item items[3] = {{1, items + 1}, {0, items + 2}, {2, 0}};
        long sum = 0;
        for (int i = 0; i < 30; i++) {
            struct item *x = items + i % 3;
            sum += get(x) + same(x)->kind + tail(x) + maybe(x) + choose(x) + last(x)->kind + indirect(x);
            none(x);
            if (i % 5 == 0) { set(x); x->kind = 0; }
        }
        printf("%ld\\n", sum);
    }
"""
NAMES = ("get", "set", "same", "none", "tail", "maybe", "choose", "last", "indirect")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("level", "unhooked"), [("-O0", set()), ("-O1", None), ("-O2", {"last"})])
def test_functions_of_a_few_instructions_have_hooks(level, unhooked, when):
    """Where there is room for a hook, and they do not begin with a loop."""
    events = "\n".join(f"event {name} {when}(x) : call({name}) && value(x = arg 1)" for name in NAMES)
    spec = f"""
        Tiny(x) {{
            {events}
            fsm :
                begun [ {" ".join(f"{name} -> begun" for name in NAMES if name != "set")} set -> over ]
                over [ {" ".join(f"{name} -> over" for name in NAMES if name != "set")} set -> twice ]
                twice [ ]
            @fail {{ }}
            @twice {{ }}
        }}
    """
    case = [Case(build(TINY, "-g", level), "", (Watched(Property(spec, ".mop")),), (("continue",),))]
    (hooked,), (trapped,) = (run_cases(case, hooks=hooks) for hooks in (True, False))
    assert differences(hooked, trapped) == ""
    assert unhooked in (None, hooked.unhooked.keys())
    assert trapped.arrivals > hooked.arrivals * (1 if unhooked is None else 3)


@pytest.mark.parametrize("sliced", [False, True])
def test_states_that_are_set_at_the_prompt_are_those_inside(sliced):
    spec = f"""
        {"slice on x" if sliced else ""}
        state init {{ transition {{ event step(x as x) success one }} }}
        state one {{ transition {{ event step(x as x) success two }} }}
        state two {{ transition {{ event step(x as x) success bad }} }}
        state bad non-accepting {{ transition {{ event step(x as x) success far }} }}
        state far {{ transition {{ event step(x as x) success far }} }}
    """
    ways = [("python put('two')", "continue"), ("next", "python put('init')", "continue"), ("continue",)]
    case = [Case(build(BOTH), "", (Watched(Property(spec, ".prop")),), ways)]
    (hooked,), (trapped,) = (run_cases(case, hooks=hooks) for hooks in (True, False))
    assert differences(hooked, trapped) == ""
    assert trapped.arrivals > hooked.arrivals
    assert len(trapped.seen["verdicts"]) > 1


def test_a_call_is_followed_that_a_scenario_has_seen_without_stopping_it():
    spec = """
        slice on x
        state init { transition { event step(x as x) success entered } }
        state entered { transition { after event step(arg 1 as x, ret as y) success init } }
    """
    scenario = "on entering state entered {\n    print(old_state, new_state, binding)\n}\n"
    case = [Case(build(BOTH), "", (Watched(Property(spec, ".prop"), scenario),))]
    (hooked,), (trapped,) = (run_cases(case, hooks=hooks) for hooks in (True, False))
    assert differences(hooked, trapped) == ""
    assert not hooked.unhooked


CALLING = """
    #include <stdio.h>
    int total = 2;
    __attribute__((noinline, noipa)) int inner(int x) { total += x; return total; }
    __attribute__((noinline, noipa)) int outer(int x) { return inner(x) + 1; }
    int main(void) {
        int sum = 0;
        for (int i = 0; i < 20; i++) sum += outer(i);
        printf("%d\\n", sum);
    }
"""


def test_a_call_that_is_half_made_is_made_before_anybody_looks():
    spec = """
        Calls() {
            event outer before() : call(outer)
            fsm :
                begun [ outer -> first ]
                first [ outer -> second ]
                second [ outer -> second ]
            @first { }
        }
    """
    ways = (("python stop_in_calls()", "continue"), *[("backtrace", "continue")] * 3, ("delete", "continue"))
    case = [Case(build(CALLING, "-g", "-O2"), "", (Watched(Property(spec, ".mop")),), ways)]
    (hooked,), (trapped,) = (run_cases(case, hooks=hooks) for hooks in (True, False))
    for what in ("output", "status", "verdicts"):
        assert hooked.seen[what] == trapped.seen[what]
    looks = [said for stop in hooked.seen["stops"][2:5] for command, said in stop if command == "backtrace"]
    assert [re.findall(r"\b(\w+) \(#\)", each) for each in looks] == [["inner", "outer", "main"]] * 3


OPEN = """
    #include <stdio.h>
    int total;
    __attribute__((noinline, noipa)) void inner(int x) { total += x; }
    __attribute__((noinline, noipa)) int work(int x, short y, int *z) {
        x = x * 10; total++; y = 0;
        *z += 1;
        inner(x);
        return x + y;
    }
    int main(void) {
        int sum = 0, cell = 5;
        for (int i = 0; i < 20; i++) sum += work(i % 4, -i, &cell);
        printf("%d %d\\n", sum, total);
    }
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_call_that_is_open_when_its_hook_goes_has_the_values_that_it_was_made_with(level):
    spec = """
        Open() {
            event work after(; x, y, z, result) : call(work) && value(x = x, y = arg 2, z = *z, result = ret)
            event inner before(; x) : call(inner) && value(x = x)
            fsm :
                one [ inner -> two work -> one ]
                two [ work -> three ]
                three [ inner -> four ]
                four [ work -> one ]
            @two { }
            @three { }
        }
    """
    ways = (("break work", "continue"), ("delete", "continue"), ("backtrace", "continue"))
    case = [Case(build(OPEN, "-g", level), "", (Watched(Property(spec, ".mop")),), ways)]
    (hooked,), (trapped,) = (run_cases(case, hooks=hooks) for hooks in (True, False))
    assert differences(hooked, trapped) == ""
    assert not hooked.unhooked
