"""`mopsus simulate rate`: how often sensors must be polled so that no change is missed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mopsus.cli.messages import CommandError
from mopsus.cli.options import Json


def rate(
    files: Annotated[list[Path], typer.Argument(help="Recordings of sensors, in CSV.", metavar="FILE…")],
    above: Annotated[
        list[str] | None,
        typer.Option("--above", help="A recording of numbers, true above this one.", metavar="NAME=NUMBER"),
    ] = None,
    below: Annotated[
        list[str] | None,
        typer.Option("--below", help="A recording of numbers, true below this one.", metavar="NAME=NUMBER"),
    ] = None,
    json: Json = False,
) -> int:
    """Find the longest time between polls in which no sensor changes twice.

    A recording has a row of time and value for each change; its name is that of the file. Words (`ON`, `CLOSED`) need
    nothing else, numbers a threshold: `mopsus simulate rate door.csv power.csv --above power=20`
    """
    from mopsus.decentral.sensors import Sensor, change_gaps, polling_step, read_switch, read_threshold

    thresholds = _thresholds(above or [], True) | _thresholds(below or [], False)
    if strange := thresholds.keys() - {file.stem for file in files}:
        raise CommandError(f"there is no recording '{min(strange)}' for a threshold to be about", code="CLI-005")

    def read(file: Path) -> Sensor:
        if file.stem not in thresholds:
            return read_switch(file, file.stem)
        number, upward = thresholds[file.stem]
        return read_threshold(file, file.stem, number, above=upward)

    sensors = [read(file) for file in files]
    gaps, step = change_gaps(sensors), polling_step(sensors)
    if json:
        import msgspec

        told = {name: {"least_s": gap.least, "most_s": gap.most} for name, gap in gaps.items()}
        print(msgspec.json.format(msgspec.json.encode({"step_s": step, "sensors": told}), indent=2).decode())
        return 0
    width = max((len(sensor.proposition) for sensor in sensors), default=0)
    for sensor in sensors:
        gap = gaps.get(sensor.proposition)
        shown = "changes less than twice" if gap is None else f"{gap.least:g} s to {gap.most:g} s between changes"
        print(f"{sensor.proposition:{width}}  {shown}")
    print("no sensor changes twice" if step is None else f"poll every {step:g} s")
    return 0


def _thresholds(given: list[str], above: bool) -> dict[str, tuple[float, bool]]:
    found = {}
    for each in given:
        name, equals, number = each.partition("=")
        try:
            found[name] = (float(number), above)
        except ValueError:
            equals = ""
        if not equals:
            raise CommandError(f"'{each}' is no threshold", hint="write NAME=NUMBER", code="CLI-005")
    return found
