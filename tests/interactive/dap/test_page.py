"""What the page on editors tells people to write is what the adapter understands."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

from interactive.dap.client import Client

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "how-to" / "editor.md").read_text()


def block(start: str) -> str:
    found = re.search(rf"^```{re.escape(start)}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_for_vs_code_stops_at_the_violation(tmp_path):
    extension = json.loads(block('json title="mopsus-debug/package.json"'))["contributes"]["debuggers"][0]
    assert (extension["type"], extension["runtime"], extension["runtimeArgs"]) == ("mopsus", "mopsus", ["dap"])
    for suffix in ("py", "prop"):
        shutil.copy(ROOT / "examples" / "interactive" / f"shop.{suffix}", tmp_path)
    text = block('json title=".vscode/launch.json"').replace("${workspaceFolder}", str(tmp_path))
    configuration = json.loads(text)["configurations"][0]
    assert (
        configuration.keys() - {"name", "type", "request"}
        <= extension["configurationAttributes"]["launch"]["properties"].keys()
    )
    with Client() as client:
        client.begin(configuration.pop("request"), **configuration)
        assert "back_twice" in client.stopped("exception")["description"]


def test_the_example_for_helix_can_be_read():
    debugger = tomllib.loads(block("toml"))["language"][0]["debugger"]
    assert [debugger["command"], *debugger["args"]] == ["mopsus", "dap"]
    assert debugger["templates"][0]["args"].keys() == {"program", "properties"}
