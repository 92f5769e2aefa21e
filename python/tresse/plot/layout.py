"""The places of the nodes of a network: in layers if it has them, else by their distances, as on the page."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tresse.plot.stats import Numbers

_WIDTH = 1100.0
_ROW = 190.0
_RACK_GAP, _POD_GAP = 0.7, 1.6
"""How much further apart hosts of two racks, or of two pods, are than hosts of one rack."""


@dataclass
class Layout:
    """Places of nodes."""

    x: Numbers
    y: Numbers
    rows: list[tuple[str, float]] = field(default_factory=list)
    """The names of the layers and their positions."""
    pods: list[tuple[str, float, float]] = field(default_factory=list)
    """The pods, from their first host to their last."""


def layout_of(network: dict[str, Any]) -> Layout:
    """The places of a network's nodes; `network` is in the page's form."""
    return _layered(network) if network["layered"] else _by_distance(network)


def _layered(network: dict[str, Any]) -> Layout:
    nodes = network["nodes"]
    level = np.array(nodes["level"])
    below = _below(network)
    rows = _orders(network, below)
    x, y = np.zeros(len(level)), level * _ROW
    for number, row in enumerate(rows):
        if number == 0:
            steps = _host_steps(network, row)
            x[row] = (np.array(steps) + 0.5) / (steps[-1] + 1) * _WIDTH
        else:
            wanted = [
                float(np.mean([x[other] for other in below[node]])) if below[node] else _WIDTH / 2 for node in row
            ]
            x[row] = _spread(wanted, 0.92 * _WIDTH / len(row))
    named = [("hosts" if place == 0 else _stem([nodes["name"][n] for n in row])) for place, row in enumerate(rows)]
    return Layout(x, y, [(name, place * _ROW) for place, name in enumerate(named)], _pods(network, rows[0], x))


def _below(network: dict[str, Any]) -> list[list[int]]:
    level, ports = network["nodes"]["level"], network["ports"]
    below: list[list[int]] = [[] for _ in level]
    for start, end in zip(ports["from"], ports["to"], strict=True):
        if level[end] < level[start]:
            below[start].append(end)
    return below


def _orders(network: dict[str, Any], below: list[list[int]]) -> list[list[int]]:
    """The nodes of each level: hosts by pod and rack, all others above the middle of the nodes below them."""
    nodes = network["nodes"]
    rows: list[list[int]] = [[] for _ in range(max(nodes["level"]) + 1)]
    for node, level in enumerate(nodes["level"]):
        rows[level].append(node)
    addresses = max(1, network["addresses"])
    natural = [_natural(name) for name in nodes["name"]]
    rows[0].sort(key=lambda n: (nodes["pod"][n // addresses], nodes["rack"][n // addresses], natural[n]))
    place = {node: (i + 0.5) / len(rows[0]) for i, node in enumerate(rows[0])}
    for row in rows[1:]:
        middle = {n: float(np.mean([place.get(b, 0.5) for b in below[n]])) if below[n] else 0.5 for n in row}
        # Treats middles that differ only by rounding as equal, such as those of the switches of a pod.
        row.sort(key=lambda n: (round(middle[n], 9), natural[n]))
        place |= {node: (i + 0.5) / len(row) for i, node in enumerate(row)}
    return rows


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", name)]


def _host_steps(network: dict[str, Any], row: list[int]) -> list[float]:
    rack, pod = network["nodes"]["rack"], network["nodes"]["pod"]
    addresses = max(1, network["addresses"])
    grouped = 1 < len(set(rack)) < len(rack)
    steps: list[float] = []
    for i, node in enumerate(row):
        own, before = node // addresses, row[i - 1] // addresses
        at = (steps[-1] + 1.0) if steps else 0.0
        if i and pod[own] != pod[before]:
            at += _POD_GAP
        elif i and grouped and rack[own] != rack[before]:
            at += _RACK_GAP
        steps.append(at)
    return steps


def _spread(wanted: list[float], gap: float) -> list[float]:
    """Places as close as possible to the wanted ones, at least `gap` apart, in the given order."""
    blocks: list[list[float]] = []
    for i, place in enumerate(wanted):
        blocks.append([place - i * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + last[0], blocks[-1][1] + last[1]]
    flat = [total / count for total, count in blocks for _ in range(int(count))]
    return [place + i * gap for i, place in enumerate(flat)]


def _stem(names: list[str]) -> str:
    """The common part of the names of a layer: `edge 12` → `edge`."""
    stems = {re.sub(r"[\s\d.:_/-]+$", "", name).strip() for name in names}
    return stems.pop() if len(stems) == 1 else ""


def _pods(network: dict[str, Any], hosts: list[int], x: Numbers) -> list[tuple[str, float, float]]:
    addresses = max(1, network["addresses"])
    spans: dict[int, list[float]] = {}
    for node in hosts:
        spans.setdefault(network["nodes"]["pod"][node // addresses], []).append(float(x[node]))
    return [(f"pod {pod}", min(own), max(own)) for pod, own in spans.items()] if len(spans) > 1 else []


def _by_distance(network: dict[str, Any]) -> Layout:
    """Places nodes so that their distances match the links between them as well as possible (stress majorisation)."""
    hops = _hops(network)
    count = len(hops)
    places = _scaled(hops)
    weights = np.zeros_like(hops)
    apart = hops > 0
    weights[apart] = hops[apart] ** -2.0
    pull = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(pull)
    for _ in range(200 if count <= 300 else 40):
        between = np.linalg.norm(places[:, None] - places[None], axis=2)
        ratio = np.where(between > 1e-9, weights * hops / np.maximum(between, 1e-9), 0.0)
        places = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ places)
    # The longest direction is horizontal, with the first node on the left.
    places -= places.mean(axis=0)
    _, directions = np.linalg.eigh(places.T @ places)
    places = places @ directions[:, ::-1]
    places *= np.where(places[0] > 0, -1.0, 1.0)
    size = float(np.ptp(places[:, 0])) or 1.0
    return Layout(places[:, 0] / size * _WIDTH, places[:, 1] / size * _WIDTH)


def _hops(network: dict[str, Any]) -> Numbers:
    count = len(network["nodes"]["level"])
    near: list[list[int]] = [[] for _ in range(count)]
    for start, end in zip(network["ports"]["from"], network["ports"]["to"], strict=True):
        near[start].append(end)
    hops = np.full((count, count), float(count))
    for start in range(count):
        hops[start, start] = 0
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            for other in near[node]:
                if other != start and hops[start, other] == count:
                    hops[start, other] = hops[start, node] + 1
                    waiting.append(other)
    return hops


def _scaled(hops: Numbers) -> Numbers:
    """The start: classical scaling, plus a small circle so that no two nodes have the same place."""
    count = len(hops)
    centre = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centre @ (hops**2) @ centre)
    # The sign of an eigenvector depends on the library.
    two = vectors[:, -2:] * np.where(vectors[np.abs(vectors[:, -2:]).argmax(axis=0), [-2, -1]] < 0, -1.0, 1.0)
    angle = 2 * np.pi * np.arange(count) / count
    places: Numbers = two * np.sqrt(np.maximum(values[-2:], 0)) + 0.05 * np.stack(
        [np.cos(angle), np.sin(angle)], axis=1
    )
    return places
