"""Rounds of a network of monitors, straight from the definitions: everyone is looked at in every round, messages arrive
in the next one, and measures are made of lists of everything that happened."""

from __future__ import annotations

from collections import Counter

from mopsus import _core
from mopsus.decentral.algorithms.build import build


def run_rounds(parts, system, traces, algorithm, limit):
    """The verdict, its timestamp and round, and the measures, with the names of the simulator."""
    monitors = {part.name: build(part, algorithm) for part in parts}
    length = max(map(len, traces.values()), default=0)
    mailboxes = {name: [] for name in monitors}
    messages, turns, found = [], [], None
    for now in range(1, limit + 1):
        inboxes, mailboxes = mailboxes, {name: [] for name in monitors}
        for name, monitor in monitors.items():
            event = traces[monitor.part.place][now - 1] if now <= len(traces[monitor.part.place]) else None
            if event is None and not inboxes[name] and now > 1:
                continue
            seen = _core.Memory() if event is None else monitor.seen(now, event)
            inbox = [(monitor.part.peers.index(sender), content) for sender, content in inboxes[name]]
            step = monitor.monitor.step(min(now, length), seen, inbox)
            turns.append((now, name, monitor.part.place, step, monitor.monitor.extent))
            for to, content in step.outbox:
                messages.append((monitor.part, content))
                mailboxes[monitor.part.peers[to]].append((name, content))
            if step.finding and found is None:
                found = (*step.finding, now)
        if found:
            break
    return found, _measures(found, messages, turns, len(system.components), limit)


def size_of(content, part):
    """The size of a message: 4 for a number, 1 for a character and for what is false."""
    if isinstance(content, _core.Memory):
        return sum(4 + len(part.inputs[put]) + (not value) for _, put, value in content.observations())
    if isinstance(content, _core.Encoding):
        return content.ehe.data() + 4 * bool(content.number)
    if isinstance(content, _core.Verdict):
        return 9 * (content.last - content.first + 1)
    return 4


def _measures(found, messages, turns, components, limit):
    measures = {
        "run_len": found[2] if found else limit,
        "msg_num": len(messages),
        "msg_data": sum(size_of(content, part) for part, content in messages),
        "msg_bytes": sum(len(_core.save_message(content)) for _, content in messages),
        "ehe_len_max": max((extent.end - extent.start for *_, extent in turns), default=0),
        "turns": len(turns),
    }
    delays = {
        "gap": [known - before for *_, step, _ in turns for before, known in step.resolutions],
        "age": [now - known for now, _, _, step, _ in turns for _, known in step.resolutions],
        "batch": [step.dropped for *_, step, _ in turns if step.resolutions and not step.finding],
    }
    for what, values in delays.items():
        measures |= {f"delay_{what}_sum": sum(values), f"delay_{what}_num": len(values)}
        measures[f"delay_{what}_max"] = max(values, default=0)
    for what, conv, attribute in (("simp", "conv_s", "simplifications"), ("eval", "conv_e", "evaluations")):
        rounds = {now: [] for now, *_ in turns}
        for now, _, place, step, _ in turns:
            rounds[now].append((place, getattr(step, attribute)))
        measures[f"{what}_total"] = sum(amount for each in rounds.values() for _, amount in each)
        measures[f"{what}_crit"] = sum(max(amount for _, amount in each) for each in rounds.values())
        measures[f"{what}_max"] = max((amount for each in rounds.values() for _, amount in each), default=0)
        measures[conv] = sum(_imbalance(each, components) for each in rounds.values())
    return measures


def _imbalance(amounts, components):
    shares = Counter()
    for place, amount in amounts:
        shares[place] += amount
    total = shares.total()
    if not total:
        return 0
    idle = (components - len(shares)) * (1 / components) ** 2
    return idle + sum((share / total - 1 / components) ** 2 for share in shares.values())
