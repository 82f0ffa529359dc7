"""`mopsus simulate view`: look at a recorded run in the browser."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from mopsus.stopping import STOPPING


def view(
    recording: Annotated[
        Path, typer.Argument(help="What `mopsus simulate run --record` has written.", metavar="RECORDING")
    ],
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port of the page; 0 takes any that is free.")
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Replay a recorded run in the browser: components, monitors, messages on their way, and the verdict.

    The page is for this machine only, and only for whoever has the address that is printed. Ctrl-C ends it.
    """
    from mopsus.decentral.simulate.recording import load_recording
    from mopsus.ui.server import serve

    loaded = load_recording(recording)
    STOPPING.expected = True

    def page() -> None:
        from mopsus.ui.replay.page import ReplayPage

        ReplayPage(loaded)

    def ready(address: str) -> None:
        print(address, flush=True)
        if browser and sys.stdout.isatty():
            webbrowser.open(address)

    serve(page, title=loaded.title, port=port, ready=ready)
