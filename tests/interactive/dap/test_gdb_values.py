"""What a scripted editor sees of a compiled program that stands still, and sets in it."""

import pytest
from interactive.dap.client import Client, Refused
from interactive.dap.compiled_programs import source
from interactive.gdb.programs import build


def test_variables_are_opened_in_parts_and_set(queue):
    with Client() as editor:
        editor.launch({source(queue): [{"line": 15}]}, program=str(queue))
        stop = editor.stopped("breakpoint")
        frame = stop["frame"]
        arguments = editor.variables(editor.scope(frame, "Arguments"))
        assert arguments["argc"]["value"] == "1"
        here = editor.scope(frame, "Locals")
        names = editor.variables(here)
        assert names["name"]["value"].endswith('"tea"')
        assert (names["name"]["variablesReference"], names["list"]["indexedVariables"]) == (0, 3)
        place = editor.variables(names["place"]["variablesReference"])
        assert {name: each["value"] for name, each in place.items()} == {"x": "1", "y": "2", "flag": "3", "rest": "0"}
        assert editor.variables(names["there"]["variablesReference"])["y"]["value"] == "2"
        part = editor.variables(names["list"]["variablesReference"], filter="indexed", start=1, count=1)
        assert {name: each["value"] for name, each in part.items()} == {"[1]": "8"}

        number = names["place"]["variablesReference"]
        assert editor.request("setVariable", variablesReference=number, name="x", value="place.y + 40")["value"] == "42"
        assert editor.request("setVariable", variablesReference=number, name="rest", value="9")["value"] == "9"
        assert editor.request("setVariable", variablesReference=number, name="flag", value="5")["value"] == "5"
        assert editor.variables(number)["rest"]["value"] == "9"  # which has the same byte
        number = names["list"]["variablesReference"]
        assert editor.request("setVariable", variablesReference=number, name="[0]", value="70")["value"] == "70"
        with pytest.raises(Refused, match="no element"):
            editor.request("setVariable", variablesReference=number, name="[3]", value="70")
        with pytest.raises(Refused, match="No symbol"):
            editor.request("setVariable", variablesReference=here, name="name", value="nothing")
        globals_ = editor.scope(frame, "Globals")
        assert editor.variables(globals_)["total"]["value"] == "5"
        done = editor.request("setExpression", expression="total", value="100", frameId=frame["id"])
        assert done["value"] == "100"
        registers = editor.variables(editor.scope(frame, "Registers"))
        assert registers["rip"]["value"].startswith("0x")
        path = editor.variables(names["there"]["variablesReference"])["x"]["evaluateName"]
        assert editor.request("evaluate", expression=path, frameId=frame["id"], context="watch")["result"] == "42"
        editor.request("continue", threadId=1)
        assert editor.finish() == 3
        assert editor.output("stdout").endswith("120 42 70 tea 5\n")


def test_the_repl_takes_commands_of_gdb_and_of_ours(queue, small):
    with Client() as editor:
        editor.launch({source(queue): [{"line": 6}]}, program=str(queue), properties=[{"file": small, "quiet": True}])
        frame = editor.stopped("breakpoint")["frame"]

        def type_in(text):
            return editor.request("evaluate", expression=text, context="repl", frameId=frame["id"])["result"]

        assert type_in("print value + 1") == "$1 = 1"
        assert type_in("value + 2") == "2"
        assert type_in("info breakpoints").startswith("Num")
        assert type_in("verde exec get_current_states") == ""
        assert "{'init'}" in editor.output("console")
        assert type_in("print (int) getpid() > 0") == "$2 = 1"  # not a stop, though something ran
        with pytest.raises(Refused, match="No symbol"):
            type_in("nothing")
        with pytest.raises(Refused, match="there is no command `verde dance`"):
            type_in("verde dance")
        found = editor.request("completions", text="verde check", column=12, frameId=frame["id"])["targets"]
        assert {"checkpoint", "checkpoints"} <= {each["label"] for each in found}
        found = editor.request("completions", text="print val", column=10, frameId=frame["id"])["targets"]
        assert {"label": "value", "start": 6, "length": 3} in found

        type_in("continue")  # the program moves, and the editor is told
        frame = editor.stopped("breakpoint")["frame"]
        assert type_in("value") == "1"
        assert [each["event"] for each in editor.events if each["event"] in ("continued", "stopped")] == [
            "stopped",
            "continued",
            "stopped",
        ]


CPP = """\
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct Shape { virtual ~Shape() {} int sides = 4; };
struct Square : Shape { double width = 1.5; };
int risky(int n) {
    if (n > 1) throw std::runtime_error("too much");
    return n;
}
int main() {
    std::vector<int> numbers{10, 20, 30};
    std::map<std::string, int> ages{{"ann", 30}, {"bob", 40}};
    std::string word = "hello";
    Square square;
    Shape &shape = square;
    try {
        risky(numbers.size());
    } catch (const std::exception &error) {
        numbers.push_back(shape.sides);
    }
    return numbers.size();
}
"""


def test_cpp_values_and_exceptions():
    program = build(CPP, "-g", "-O0", language="cpp")
    file = program.with_name("program.cc")
    with Client() as editor:
        editor.request("initialize", adapterID="mopsus")
        editor.send("launch", program=str(program))
        editor.until("initialized")
        editor.request("setBreakpoints", source={"path": str(file)}, breakpoints=[{"line": 18}])
        filters = editor.request("setExceptionBreakpoints", filters=["throw", "catch", "uncaught"])["breakpoints"]
        assert [each["verified"] for each in filters] == [True, True, False]
        editor.request("configurationDone")
        stop = editor.stopped("breakpoint")
        found = editor.variables(editor.scope(stop["frame"], "Locals"))
        assert found["word"]["value"] == '"hello"'
        numbers = editor.variables(found["numbers"]["variablesReference"], filter="indexed", start=1, count=2)
        assert [each["value"] for each in numbers.values()] == ["20", "30"]
        ages = editor.variables(found["ages"]["variablesReference"])
        assert {name: each["value"] for name, each in ages.items()} == {'["ann"]': "30", '["bob"]': "40"}
        square = editor.variables(found["square"]["variablesReference"])
        assert {"<Shape>", "width"} <= square.keys()
        number = found["numbers"]["variablesReference"]
        assert editor.request("setVariable", variablesReference=number, name="[2]", value="31")["value"] == "31"

        editor.request("continue", threadId=1)
        stop = editor.stopped("exception")
        assert "thrown" in stop["description"]
        assert editor.request("exceptionInfo", threadId=1)["exceptionId"]
        assert "risky(int)" in [each["name"] for each in editor.frames(1)] or "risky" in str(editor.frames(1))
        editor.request("continue", threadId=1)
        assert "caught" in editor.stopped("exception")["description"]
        editor.request("setExceptionBreakpoints", filters=[])
        editor.request("continue", threadId=1)
        assert editor.finish() == 4
