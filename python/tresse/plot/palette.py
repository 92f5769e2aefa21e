"""The styles of series: the page's colours (its light theme), plus dashes and markers for printing in grey."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from tresse.plot.schemes import PLACES

Dash: TypeAlias = Literal["-"] | tuple[float, tuple[float, ...]]

SERIES = ("#1170aa", "#d4580a", "#068a68", "#a5478f", "#a97c00", "#2f95cf", "#7d5a3c", "#5d6570")
TEXT = "#191c21"
MUTED = "#59626e"
GRID = "#e8ebef"
LINE = "#b9c0c9"
OPTIMUM = "#59626e"
GOOD, BAD, UNSURE = "#1a7a45", "#b3372b", "#7a6114"

DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (7, 3),
    (2, 2.5),
    (9, 3, 2, 3),
    (12, 4),
    (4, 2),
    (1, 3),
    (9, 2, 2, 2, 2, 2),
)
"""The dashes of lines on the page, in SVG's pixels; a line is two pixels wide."""
MARKERS = ("o", "s", "^", "D", "*", "1", "P", "X")

HEAT = (
    "#e4e2ea",
    "#fecd90",
    "#fe9f6d",
    "#f7705c",
    "#de4968",
    "#b73779",
    "#8c2981",
    "#641a80",
    "#3b0f70",
    "#180f3e",
)
"""Colours of amounts, from the least to the most."""


@dataclass(frozen=True)
class Look:
    """The style of a series."""

    colour: str
    dash: Dash
    marker: str
    hatch: str
    """The hatching of areas whose colour has been used before, else empty."""


def look_at(place: int) -> Look:
    """The style of the series at a place; after eight, the colours repeat with other dashes and markers."""
    again = place // len(SERIES)
    dash = DASHES[(place + again) % len(DASHES)]
    return Look(
        colour=SERIES[place % len(SERIES)],
        # In matplotlib, dashes are in multiples of the line's width.
        dash=(0.0, tuple(part / 2 for part in dash)) if dash else "-",
        marker=MARKERS[(place + again) % len(MARKERS)],
        hatch="" if again == 0 else "////" if again == 1 else "xxxx",
    )


def with_dash(look: Look, place: int) -> Look:
    """A style of the same colour, with the dash of a place."""
    dash = DASHES[place % len(DASHES)]
    return replace(look, dash=(0.0, tuple(part / 2 for part in dash)) if dash else "-")


def places_of(names: Iterable[str]) -> dict[str, int]:
    """The place of each name of a list, as in `page/src/data/colour.ts`.

    Schemes of the built-in experiments have their own ones, so that they look the same in all figures, as long as no other
    of the list has the same colour. The others have the first ones that are free: colours repeat, with other markers, only
    if there are more names than colours.
    """
    every = list(dict.fromkeys(names))
    places: dict[str, int] = {}
    colours: set[int] = set()

    def take(name: str, place: int) -> None:
        places[name] = place
        colours.add(place % len(SERIES))

    own = {name: place for name in every if (place := _own_place(name)) is not None}
    for name, place in own.items():
        if place % len(SERIES) not in colours:
            take(name, place)
    for name in every:
        if name in places:
            continue
        unused = next((place for place in range(len(SERIES)) if place not in colours), None)
        if unused is None and name in own and own[name] not in places.values():
            unused = own[name]
        if unused is None:
            unused = next(place for place in itertools.count() if place not in places.values())
        take(name, unused)
    return {name: places[name] for name in every}


def _own_place(name: str) -> int | None:
    """The place of a scheme of the built-in experiments; without its subflows, that of the first one of this name."""
    if name in PLACES:
        return PLACES[name]
    return next((place for scheme, place in PLACES.items() if re.sub(r"-\d+$", "", scheme) == name), None)


def looks_of(names: Iterable[str]) -> dict[str, Look]:
    """A style for each name, by its place."""
    return {name: look_at(place) for name, place in places_of(names).items()}
