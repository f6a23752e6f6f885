"""Figures beside what they have to be: for people, and for bench/check."""

import json
import pathlib

TO_REACH = pathlib.Path(__file__).parent / "figures.json"


def judge(results):
    """(name, what, wanted, got, reached) of each figure to reach; got is None if it was not measured."""
    rows = []
    for figure in json.loads(TO_REACH.read_text())["figures"]:
        got = results["figures"].get(figure["name"])
        at_most, at_least = figure.get("at_most"), figure.get("at_least")
        reached = got is not None and (got <= at_most if at_most is not None else got >= at_least)
        wanted = f"<= {at_most}" if at_most is not None else f">= {at_least}"
        rows.append((figure["name"], figure["what"], wanted, got, reached))
    return rows


def number(value):
    if value is None:
        return "not measured"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def table(results):
    lines = ["| figure | to reach | measured | spread |", "|---|---|---|---|"]
    for name, what, wanted, got, reached in judge(results):
        spread = results["spreads"].get(name, 0)
        lines.append(f"| {what} | {wanted} | {number(got)}{'' if reached else ' (falls short)'} | {spread:.0%} |")
    return "\n".join(lines)


def details(results):
    """All that was measured, also what nothing depends on."""
    lines = []
    for name, value in sorted(results["figures"].items()):
        lines.append(f"{name:48} {number(value):>12}  ±{results['spreads'].get(name, 0) / 2:.0%}")
    return "\n".join(lines)
