"""Wrong input gives the command's message, word by word; wrong arguments are named as in Python."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL

import tresse
from tresse import _native
from tresse.experiments import toml

MISSPELT = {**SMALL["workloads"]["permutation"], "sise": "1MB"}


def changed(**tables: Any) -> dict[str, Any]:
    return {**SMALL, **tables}


WRONG: dict[str, tuple[list[str], Callable[[Path], Any]]] = {
    "a name that nothing has": (["xmp/tabel1"], lambda _: tresse.run("xmp/tabel1")),
    "a file that is not there": (["nowhere.toml"], lambda _: tresse.run("nowhere.toml")),
    "a folder": (["."], lambda _: tresse.run(".")),
    "an unknown path": (
        ["xmp/fig4", "--set", "fabric.speed=1"],
        lambda _: tresse.run("xmp/fig4", set={"fabric.speed": 1}),
    ),
    "a number without a unit": (
        ["xmp/fig4", "--set", "fabric.mark=20"],
        lambda _: tresse.run("xmp/fig4", set={"fabric.mark": 20}),
    ),
    "a wrong unit": (
        ["xmp/fig4", "--set", "fabric.mark=20ms"],
        lambda _: tresse.run("xmp/fig4", set={"fabric.mark": "20ms"}),
    ),
    "an odd k": (["xmp/table1", "--set", "fabric.k=7"], lambda _: tresse.run("xmp/table1", set={"fabric.k": 7})),
    "an axis without the value": (
        ["xmp/fig4", "--only", "scheme=nope"],
        lambda _: tresse.run("xmp/fig4", only={"scheme": "nope"}),
    ),
    "an unknown axis": (["xmp/fig4", "--only", "colour=red"], lambda _: tresse.run("xmp/fig4", only={"colour": "red"})),
    "a controller's file that is not there": (
        ["xmp/fig4", "--controller", "nowhere.c"],
        lambda _: tresse.run("xmp/fig4", controllers=["nowhere.c"]),
    ),
    "an unknown controller": (
        ["xmp/fig4", "--set", "schemes.beta-4.controller=bbr9"],
        lambda _: tresse.run("xmp/fig4", set={"schemes.beta-4.controller": "bbr9"}),
    ),
    "a parameter out of its range": (
        ["xmp/fig4", "--set", "schemes.beta-4.parameters.beta=100000"],
        lambda _: tresse.run("xmp/fig4", set={"schemes.beta-4.parameters.beta": 100000}),
    ),
    "a folder that is not empty": (
        ["xmp/fig4", "--out", "full"],
        lambda _: tresse.run("xmp/fig4", out="full", progress=False),
    ),
    "a folder without a run": (["compare", "full", "full"], lambda _: tresse.compare("full", "full")),
    "a missing key": (["-", "fabric"], lambda _: tresse.run(CHANGED["fabric"])),
    "a misspelt key": (["-", "workload"], lambda _: tresse.run(CHANGED["workload"])),
    "a value of the wrong type": (["-", "schemes"], lambda _: tresse.run(CHANGED["schemes"])),
}

# Arguments that the command reads itself, as options: here an error has the name that Python has for them.
ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"replications": "many"}, "replications: many is not a number of seeds from 1 to 1000, or a width such as 5%"),
    ({"replications": 0}, "replications: 0 is not a number of seeds"),
    ({"seed": -1}, "seed: -1 is not a whole number of at least 0"),
    ({"seed": "one"}, "seed: one is not a whole number"),
    ({"profile": "fast"}, "profile: fast is neither quick nor full"),
    ({"threads": 0}, "threads: 0 is not a whole number from 1 to 64"),
    ({"parallel": 5000}, "parallel: 5000 is not a whole number from 1 to"),
]


@pytest.mark.parametrize(("argument", "message"), ARGUMENTS)
def test_an_argument_is_named_as_in_python(argument: dict[str, Any], message: str) -> None:
    with pytest.raises(tresse.TresseError) as caught:
        tresse.run("xmp/fig4", **argument)
    assert str(caught.value).startswith(message)
    assert caught.value.code == "input"


CHANGED = {
    "fabric": changed(fabric={"k": 4}),
    "workload": changed(workloads={"permutation": MISSPELT}),
    "schemes": changed(schemes={"a": {"controller": 1}}),
}


@pytest.mark.parametrize("name", WRONG)
def test_it_is_the_command_s_message(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, wrong = WRONG[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    if arguments[0] == "-":
        # The file that the dict stands for.
        Path("experiment").write_text(toml(CHANGED[arguments[1]]))
        arguments = ["experiment"]
    own = arguments if arguments[0] == "compare" else ["run", *arguments]
    printed = subprocess.run([sys.executable, "-m", "tresse", *own], capture_output=True, text=True, check=False)
    assert printed.returncode in (2, 3)
    with pytest.raises(tresse.TresseError) as caught:
        wrong(tmp_path)
    error = caught.value
    # What is said of the run before the error is no part of it.
    said = printed.stderr[printed.stderr.index("error: ") + len("error: ") :]
    assert without_loaded(unaddressed(str(error))) == without_loaded(unaddressed(said))
    assert error.code == {2: "input", 3: "machine"}[printed.returncode] or error.code == "io"
    assert error.message
    assert error.hint is None or error.hint in str(error)


def without_loaded(text: str) -> str:
    """Without the controllers that other tests of this process have loaded, which a list of all has too."""
    built_in = set(_native.controllers())
    return re.sub(r"(?<=, )(\w+), ", lambda name: name[0] if name[1] in built_in else "", text)


def unaddressed(text: str) -> str:
    """Without the usage, which names the command line's own arguments."""
    return text.split("\n\nUsage: ")[0].split("\n\nFor more information")[0].strip()


def test_an_error_knows_its_place() -> None:
    with pytest.raises(tresse.TresseError) as caught:
        tresse.run(changed(fabric={"k": 4}))
    error = caught.value
    assert (error.code, error.file, error.line, error.column) == ("input", "experiment", 3, 1)
    assert "topology" in error.message


def test_what_is_no_experiment() -> None:
    with pytest.raises(tresse.TresseError, match="an experiment is a name, a path, a dict"):
        tresse.run(7)  # type: ignore[arg-type]
    with pytest.raises(tresse.TresseError, match="set: a value is text"):
        tresse.run("xmp/fig4", set={"fabric.k": object()})
    with pytest.raises(tresse.TresseError, match="nothing is called `xpm`"):
        tresse.explain("xpm")


def test_there_is_one_base() -> None:
    assert issubclass(tresse.TresseError, Exception)
    assert "coupled" in tresse.explain("XMP")
