# ruff: noqa: B007, C416, RET501, RET503, RUF012, SIM202, UP028 - code of all sorts, to be looked at
"""A program that looks at itself in every way. Prints a line for each: a name and what it has seen.

It is run as it is and woven, and should see the same. What it sees otherwise is in `DIFFERENT`, as the page says.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import copy
import dis
import functools
import gc
import importlib
import inspect
import io
import linecache
import marshal
import os
import pickle
import pydoc
import subprocess
import sys
import tempfile
import threading
import traceback
import types
import warnings
from pathlib import Path

import cloudpickle
import dill
import joblib
from registry import DIFFERENT, OBSERVATIONS, different, observation

importlib.import_module("surroundings")  # for its observations

# ---- what is looked at ----


def total(numbers):
    """The sum, by a loop."""
    result = 0
    for number in numbers:
        result += number
    first, *rest = [*numbers, next(iter(numbers))]
    return result + first - rest[-1]


def outer(factor):
    def inner(numbers):
        for number in numbers:
            yield number * factor

    squares = [number * number for number in range(3)]
    return inner, lambda numbers: [each for each in numbers], squares


def untouched(a, b=2):
    return a + b


async def waiting(n):
    await asyncio.sleep(0)
    return [n async for n in ticking(n)]


async def ticking(n):
    for each in range(n):
        yield each


class Account:
    """Somebody's."""

    kinds = [kind for kind in ("a", "b")]

    def __init__(self, balance=0):
        self._balance = balance

    @property
    def balance(self):
        """How much there is."""
        return self._balance

    @balance.setter
    def balance(self, value):
        self._balance = value

    def add(self, *amounts):
        """Puts it there."""
        for amount in amounts:
            self.balance += amount
        return self

    @classmethod
    def of(cls, amounts):
        return cls(sum(amount for amount in amounts))

    @staticmethod
    def both(pair):
        one, other = pair
        return one + other

    def __len__(self):
        return self._balance


class Heir:
    """Has nothing of its own that is watched."""

    def doubled(self, numbers):
        self.last = [2 * number for number in numbers]
        return self.last


def frame_of():
    for _ in [1]:
        return sys._getframe()


def codes(code):
    """The code and all that is in it."""
    return [code, *(each for inner in code.co_consts if isinstance(inner, types.CodeType) for each in codes(inner))]


FUNCTIONS = [
    total,
    outer,
    untouched,
    waiting,
    ticking,
    Account.add,
    Account.of,
    Account.both,
    Account.__init__,
    frame_of,
]


# ---- names ----


@observation
def builtin_names():
    return sorted(vars(builtins))


@observation
def module_names():
    return sorted(globals())


@observation
def signatures_of_builtins():
    found = []
    for name, value in sorted(vars(builtins).items()):
        if callable(value):
            with contextlib.suppress(ValueError):
                found.append((name, str(inspect.signature(value))))
    return found


@observation
def attributes_of_classes():
    return sorted(vars(Account)), [
        type(each).__name__ for each in (Account, Account.__dict__["of"], Account.__dict__["both"])
    ]


@observation
def surroundings_of_main():
    return __builtins__ is builtins, gc.get_threshold(), sys.flags, sys.path[0] == str(Path(__file__).parent)


# ---- code ----


@different
def sizes_of_code():
    return sys.getsizeof(loop.__code__)


@different
def sizes_of_what_has_a_stand_in():
    return sys.getsizeof(tempfile.mkstemp), [type(each) for each in gc.get_referents(tempfile.mkstemp)]


@different
def kinds_of_bound_methods():
    return type({}.pop).__name__


@observation
def attributes_of_code():
    left_out = ("co_lines", "co_positions", "co_lnotab")
    names = [name for name in dir(types.CodeType) if name.startswith("co_") and name not in left_out]
    return [
        [repr(getattr(code, name)) if name != "co_consts" else constants(code) for name in names]
        for function in FUNCTIONS
        for code in codes(function.__code__)
    ]


def constants(code):
    return [each.co_name if isinstance(each, types.CodeType) else repr(each) for each in code.co_consts]


@observation
def positions():
    return [list(code.co_positions()) + list(code.co_lines()) for each in FUNCTIONS for code in codes(each.__code__)]


@observation
def disassembly():
    shown = []
    for each in (*FUNCTIONS, Account):
        output = io.StringIO()
        dis.dis(each, file=output)
        shown.append(output.getvalue())
    return shown


@observation
def sources():
    found = [inspect.getsource(each) for each in (*FUNCTIONS, Account)]
    return (
        found,
        [str(inspect.signature(each)) for each in FUNCTIONS],
        inspect.getsource(frame_of()),
        inspect.getcomments(total),
    )


@observation
def closures():
    inner = outer(2)[0]
    return str(inspect.getclosurevars(inner)), inner.__code__.co_freevars, inspect.getclosurevars(total).builtins.keys()


@observation
def helpful_texts():
    return pydoc.plain(pydoc.render_doc(Account)), pydoc.plain(pydoc.render_doc(total)), inspect.getdoc(Account.balance)


@observation
def identity_of_code():
    inner = outer(1)[0]
    return (
        total.__code__ is total.__code__,
        inner.__code__ in outer.__code__.co_consts,
        outer(2)[0].__code__ is inner.__code__,
        any(each is inner.__code__ for each in outer.__code__.co_consts),
        inner([1]).gi_code is inner.__code__,
        ticking(1).ag_code is ticking.__code__,
        untouched.__code__ is untouched.__code__,
        len({total.__code__, total.__code__, outer.__code__}),
    )


@observation
def code_of_coroutines():
    coroutine = waiting(1)
    coroutine.close()
    return coroutine.cr_code is waiting.__code__, constants(coroutine.cr_code)


@observation
def code_in_frames_is_equal():
    code = frame_of().f_code
    table = {frame_of.__code__: 1}
    return (
        code == frame_of.__code__,
        not code != frame_of.__code__,
        hash(code) == hash(frame_of.__code__),
        table[code],
        code in {*table},
    )


@different
def code_in_frames_is_the_same():
    return frame_of().f_code is frame_of.__code__


@different
def instructions_in_frames():
    return frame_of().f_code.co_code == frame_of.__code__.co_code


@observation
def places_in_frames():
    def place():
        for _ in [1]:
            frame = sys._getframe()
            return list(frame.f_code.co_positions())[frame.f_lasti // 2], frame.f_lineno

    return place()


# ---- code put elsewhere ----


@observation
def functions_made_of_code():
    bare = types.FunctionType(total.__code__, {"__builtins__": {"next": next, "iter": iter}})
    named = types.FunctionType(total.__code__, globals(), "other", total.__defaults__, total.__closure__)
    return bare([1, 2]), named([3]), bare.__code__ is total.__code__, named.__code__ is total.__code__


def loop(numbers):
    t = 0
    for each in numbers:
        t += each
    return t


@observation
def no_builtins_at_all():
    return types.FunctionType(loop.__code__, {"__builtins__": {}})([1, 2])


@observation
def code_executed_elsewhere():
    space = {"__builtins__": {}}
    exec(compile("r = [x for x in (1, 2)]\nfor y in r: pass", "x", "exec"), space)
    return space["r"]


@observation
def code_assigned():
    def one(numbers):
        for each in numbers:
            return each

    def other(numbers):
        return [each for each in numbers]

    before = one.__code__
    one.__code__ = other.__code__
    result = one([1, 2])
    one.__code__ = before
    return result, one([1, 2]), one.__code__ is before


@observation
def code_replaced():
    def one(numbers):
        for each in numbers:
            yield each

    changed = one.__code__.replace(co_name="changed", co_filename="elsewhere", co_flags=one.__code__.co_flags | 0x100)
    one.__code__ = changed
    return one.__code__ is changed, list(one([1])), one.__code__.co_name, one.__code__.co_filename, constants(changed)


@observation
def code_from_frames_replaced():
    changed = frame_of().f_code.replace(co_name="changed")
    return constants(changed), changed == frame_of.__code__.replace(co_name="changed")


@observation
def coroutines_of_generators():
    @types.coroutine
    def slept():
        for _ in [1]:
            yield

    async def wait():
        await slept()
        return 1

    return asyncio.run(wait()), slept.__code__.co_flags


# ---- leaving the process ----


@observation
def marshalled():
    return [marshal.loads(marshal.dumps(each.__code__)) == each.__code__ for each in FUNCTIONS]


@observation
def marshalled_from_frames():
    code = frame_of().f_code
    made = [
        marshal.loads(marshal.dumps(each))
        for each in (code, [code], ({"a": code},), {1: [code, {2: (code,)}]}, frozenset({code}))
    ]
    shared = [code]
    twice = marshal.loads(marshal.dumps([shared, shared]))
    with tempfile.TemporaryFile() as file:
        marshal.dump([code, 1], file)
        file.seek(0)
        made.append(marshal.load(file))
    endless = []
    endless.append(endless)
    with contextlib.suppress(ValueError):
        marshal.dumps(endless)
    return (
        repr(made).count("frame_of"),
        twice[0] is twice[1],
        [constants(each) for each in (made[0], made[1][0], made[-1][0])],
    )


OTHER = """
import sys, {0} as p
sys.modules["mopsus"] = None
sys.stdout.write(repr(p.loads(sys.stdin.buffer.read())()))
"""


def elsewhere(module, data):
    """What a function gives in a process without Mopsus."""
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n" + OTHER.format(module)]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MOPSUS")}
    ended = subprocess.run(command, input=data, capture_output=True, env=environment, cwd="/")
    return ended.stdout.decode() or ended.stderr.decode()


def everything():
    """Uses everything that is looked at."""
    inner, listed, squares = outer(2)
    account = Account(1).add(1, 2)
    account.balance = account.balance + Account.both((1, 2)) + len(Account.of([1, 2])) + len(Account.kinds)
    return (
        total([1, 2, 3]),
        list(inner([1])),
        listed("ab"),
        squares,
        untouched(1),
        account.balance,
        asyncio.run(waiting(2)),
    )


@observation
def by_cloudpickle():
    def local(numbers=(1, 2)):
        for number in numbers:
            pass
        return number, everything()

    return elsewhere("cloudpickle", cloudpickle.dumps(local)), elsewhere("cloudpickle", cloudpickle.dumps(everything))


@observation
def objects_by_cloudpickle():
    account = Account(1)
    return elsewhere("cloudpickle", cloudpickle.dumps(functools.partial(account.add, 2))).startswith(
        "<__main__.Account object"
    )


@observation
def classes_by_cloudpickle():
    return elsewhere("cloudpickle", cloudpickle.dumps(lambda: Heir().doubled([1, 2])))


@observation
def by_dill():
    shown = []
    for recurse in (False, True):
        data = dill.dumps(everything_alone, recurse=recurse, byref=False)
        shown.append(elsewhere("dill", data))
    return shown


def everything_alone():
    """The same by what it has of its own: what else is here, dill cannot pickle."""

    class Local:
        def __init__(self, numbers):
            self.numbers = [each for each in numbers]

        @property
        def first(self):
            for each in self.numbers:
                return each

    def walk(numbers):
        for number in numbers:
            yield number

    return Local("ab").first, [*walk([1, 2])]


@observation
def local_functions_by_dill():
    def local(numbers=(1, 2)):
        for number in numbers:
            pass
        return number, loop([1])

    return elsewhere("dill", dill.dumps(local, recurse=True)), dill.loads(dill.dumps(local, recurse=True))()


@observation
def copies_by_cloudpickle():
    inner = outer(3)[0]
    made = cloudpickle.loads(cloudpickle.dumps(inner))
    return list(made([1, 2])), made.__code__ == inner.__code__, constants(made.__code__)


@observation
def in_processes_of_joblib():
    def local(numbers):
        t = 0
        for number in numbers:
            t += number
        return t

    return joblib.Parallel(n_jobs=2)(joblib.delayed(local)([1, n]) for n in range(3))


@observation
def hashed_by_joblib():
    return joblib.hash(total.__code__.co_code), joblib.hash([Account, total, 1])


@observation
def pickled_by_name():
    made = pickle.loads(pickle.dumps([total, Account, Account(3), Account.add, Account(1).add, Account.of]))
    return (
        made[0] is total,
        made[1] is Account,
        made[2].balance,
        made[3] is Account.add,
        made[4](1).balance,
        made[5]([1]).balance,
    )


@observation
def what_cannot_be_pickled():
    shown = []
    for each in (total.__code__, outer(1)[0], Account.__dict__["balance"], (x for x in [1]), frame_of()):
        try:
            pickle.dumps(each)
        except Exception as error:
            shown.append((type(error).__name__, str(error).split(" at 0x")[0]))
    return shown


@observation
def copied():
    return (
        copy.copy(total) is total,
        copy.deepcopy([total, Account.add])[0] is total,
        copy.deepcopy(Account(5)).balance,
        copy.copy(Account(6)).balance,
        copy.deepcopy({1: Account.__dict__["balance"].fget})[1](Account(3)),
    )


# ---- while it runs ----


@observation
def traced_lines():
    seen = []

    def tracer(frame, event, _):
        if frame.f_code.co_filename != __file__:
            return None
        seen.append((event, frame.f_code.co_name, frame.f_lineno))
        return tracer

    sys.settrace(tracer)
    try:
        total([1, 2])
        Account(1).add(2)
        list(outer(2)[0]([1]))
    finally:
        sys.settrace(None)
    return seen


@observation
def traced_calls():
    seen = []

    def tracer(frame, event, _):
        seen.append((event, Path(frame.f_code.co_filename).name, frame.f_code.co_name))

    sys.settrace(tracer)
    try:
        with open(os.devnull) as file:
            file.read()
        threading.Lock().acquire()
        total([1, 2])
    finally:
        sys.settrace(None)
    return seen


@observation
def profiled_calls():
    seen = []

    def profiler(frame, event, _):
        if frame.f_code.co_filename == __file__ and event in ("call", "return"):
            seen.append((event, frame.f_code.co_name, frame.f_code == total.__code__))

    sys.setprofile(profiler)
    try:
        total([1, 2])
        outer(1)
    finally:
        sys.setprofile(None)
    return seen


@different
def profiled_calls_of_builtins():
    seen = []

    def profiler(frame, event, argument):
        if event == "c_call":
            seen.append(argument.__name__)

    sys.setprofile(profiler)
    try:
        total([1, 2])
    finally:
        sys.setprofile(None)
    return seen


@different
def traced_calls_of_what_is_found():
    seen = []

    def tracer(frame, event, _):
        seen.append(frame.f_code.co_name)

    numbers = [1, 2, 3]
    sys.settrace(tracer)
    try:
        for number in numbers:
            numbers.remove(number)
    finally:
        sys.settrace(None)
    return seen


@different
def audited_events():
    folder = tempfile.mkdtemp()
    Path(folder, "observed_audit.py").write_text("for x in [1]: pass\n")
    seen, heard = [], True
    sys.addaudithook(lambda event, _: seen.append(event) if heard else None)
    sys.path.insert(0, folder)
    try:
        importlib.import_module("observed_audit")
    finally:
        heard = False
        sys.path.remove(folder)
    return sorted(seen)


@observation
def monitored_lines():
    if sys.version_info < (3, 12):
        return None
    seen = []
    events = sys.monitoring.events
    sys.monitoring.use_tool_id(4, "observer")
    try:
        sys.monitoring.register_callback(4, events.LINE, lambda code, line: seen.append((code == loop.__code__, line)))
        sys.monitoring.set_local_events(4, loop.__code__, events.LINE)
        asked = sys.monitoring.get_local_events(4, loop.__code__)
        loop([1, 2])
        sys.monitoring.set_local_events(4, loop.__code__, 0)
    finally:
        sys.monitoring.register_callback(4, events.LINE, None)
        sys.monitoring.free_tool_id(4)
    return asked, seen


@observation
def depth_of_recursion():
    def plainly(n):
        try:
            return plainly(n + 1)
        except RecursionError:
            return n

    def in_loops(n):
        for _ in [1]:
            try:
                return in_loops(n + 1)
            except RecursionError:
                return n

    def methods(account, n):
        try:
            return methods(account, n + 1)
        except RecursionError:
            return n

    return plainly(1), in_loops(1), methods(Account(), 1), sys.getrecursionlimit()


@observation
def depth_of_generators():
    def generated(n):
        try:
            for each in generated(n + 1):
                yield each
        except RecursionError:
            yield n

    def delegated(n):
        try:
            yield from delegated(n + 1)
        except RecursionError:
            yield n

    return list(generated(1)), list(delegated(1))


@observation
def the_stack():
    return [(each.function, each.lineno, each.code_context) for each in inspect.stack()], len(
        list(traceback.walk_stack(None))
    )


@observation
def the_stack_in_threads():
    seen = []
    thread = threading.Thread(
        target=lambda: seen.append([each.f_code.co_name for each, _ in traceback.walk_stack(sys._getframe())])
    )
    thread.start()
    thread.join()
    return seen


@observation
def tracebacks():
    def failing_loop():
        for _ in 3:
            pass

    def failing_step():
        for _ in (1 / each for each in [0]):
            pass

    def failing_unpacking():
        one, other = [1, 2, 3]
        return one, other

    def failing_method():
        return Account(1).add("a")

    async def failing_wait():
        await 3

    shown = []
    for function in (
        failing_loop,
        failing_step,
        failing_unpacking,
        failing_method,
        lambda: asyncio.run(failing_wait()),
    ):
        try:
            function()
        except Exception as error:
            shown.append("".join(traceback.format_exception(error)))
    return shown


@observation
def warnings_of_the_compiler():
    loop = "    for y in x:\n        assert (y, 'z')\n        if y is 1: pass\n"
    text = f'def f(x):\n    """\\d"""\n{loop}    return "a" "b"[x]\n'
    folder = tempfile.mkdtemp()
    name = "observed_warnings"
    Path(folder, name + ".py").write_text(text)
    sys.path.insert(0, folder)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            importlib.import_module(name)
    finally:
        sys.path.remove(folder)
    linecache.checkcache()
    return sorted(
        (each.lineno, str(each.message), each.category.__name__, each.filename[-20:]) for each in caught
    ), len(warnings.filters)


@observation
def warnings_that_are_errors():
    folder = tempfile.mkdtemp()
    Path(folder, "observed_error.py").write_text("for x in [1]:\n    assert (x, 2)\n")
    sys.path.insert(0, folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            importlib.import_module("observed_error")
    except SyntaxError as error:
        return str(error), error.lineno
    finally:
        sys.path.remove(folder)


@observation
def kept_bytecode():
    folder = tempfile.mkdtemp()
    Path(folder, "observed_kept.py").write_text("for x in [1]: pass\n")
    sys.path.insert(0, folder)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        module = importlib.import_module("observed_kept")
    finally:
        sys.dont_write_bytecode = before
        sys.path.remove(folder)
    return Path(module.__cached__).exists(), type(module.__loader__).__name__, type(module.__spec__.loader).__name__


@observation
def garbage():
    class Node:
        pass

    def cycle():
        for _ in [1]:
            node = Node()
            node.self = node
        return None

    gc.collect()
    cycle()
    return gc.collect() > 0, sys.getrefcount(Node()), [sys.getrefcount(each) for each in [object()]]


@different
def what_functions_refer_to():
    return any(each is total.__code__ for each in gc.get_referents(total))


@observation
def types_of_things():
    return [
        (isinstance(each, types.FunctionType), inspect.isfunction(each), each.__class__.__name__)
        for each in FUNCTIONS[:5]
    ], [isinstance(vars(Account)[name], property) for name in ("balance",)]


def main():
    chosen = DIFFERENT if sys.argv[1] == "different" else OBSERVATIONS
    for name, function in chosen.items():
        try:
            seen = function()
        except BaseException:
            seen = traceback.format_exc()
        print(repr((name, repr(seen))), flush=True)


if __name__ == "__main__":
    main()
