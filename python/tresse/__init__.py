"""Multipath congestion control for data-centre networks.

>>> import tresse
>>> run = tresse.run("xmp/fig4", only={"scheme": "xmp"})
>>> run.plot.timeline()

`run` runs an experiment, `open` reads a run back, `compare` compares two runs, `sweep` runs an experiment at many
settings, `Controller` and `Group` drive a controller by hand. `check` looks at an experiment before it is run, `topology`
at its network; `list` and `explain` say what there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tresse.controllers import Controller, Group, Parameter, Step, Subflow
from tresse.errors import TresseError, TresseWarning
from tresse.facts import check, explain, topology
from tresse.facts import parts as list  # noqa: A004 - as the command has it
from tresse.runs import Case, Claim, Run, compare, open, optimum, run  # noqa: A004
from tresse.sweeps import Sweep, sweep
from tresse.tables import Table
from tresse.tuning import tune

if TYPE_CHECKING:
    from tresse import keys, plot

__all__ = [
    "Case",
    "Claim",
    "Controller",
    "Group",
    "Parameter",
    "Run",
    "Step",
    "Subflow",
    "Sweep",
    "Table",
    "TresseError",
    "TresseWarning",
    "__version__",
    "check",
    "compare",
    "explain",
    "keys",
    "list",
    "open",
    "optimum",
    "plot",
    "run",
    "sweep",
    "topology",
    "tune",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module, metadata

    if name == "__version__":
        return metadata.version("tresse")
    # Imported on first use: the drawing code takes long to load, and not everybody has it.
    if name in ("keys", "plot"):
        return import_module(f"tresse.{name}")
    raise AttributeError(f"module `tresse` has no `{name}`")
