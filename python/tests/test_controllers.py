"""Controllers traced, driven ACK by ACK, and compiled from a file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tresse
from tresse.controllers import names


def template() -> str:
    """What `tresse controller new` writes."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "tresse", "controller", "new", "template", "--dir", folder],
            check=True,
            capture_output=True,
        )
        return (Path(folder) / "template.c").read_text()


TEMPLATE = template()
# A divisor that is 0, which the compiler cannot know.
BEGIN = "\tif (a->new_round) {"
DIES = TEMPLATE.replace(BEGIN, "\tvolatile u32 zero = 0;\n\n\ts->word = 1000 / zero;\n" + BEGIN)


def with_own(folder: Path, name: str, text: str) -> Path:
    """A file with the controller `name`."""
    file = folder / f"{name}.c"
    file.write_text(text.replace("template", name))
    return file


SCRIPT = """subflows 2
ack 10
ack 20 marked=2 rtt=300us subflow=1
loss
ack 5 limited=no
timeout subflow=1
wait 10ms
window 40 ssthresh=30 subflow=1
ack 40 subflow=1
"""


@pytest.mark.parametrize("name", ["xmp", "lia", "dctcp", "reno"])
def test_a_trace_is_the_command_s(name: str, folder: Path) -> None:
    file = folder / "script.txt"
    file.write_text(SCRIPT)
    arguments = ["controller", "trace", name, "--script", str(file), "--initial-window", "8", "--json"]
    printed = subprocess.run([sys.executable, "-m", "tresse", *arguments], check=True, capture_output=True, text=True)
    steps = tresse.Controller(name).trace(SCRIPT, initial_window=8)
    assert [step.__dict__ for step in steps] == json.loads(printed.stdout)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("ack"), st.integers(0, 2), st.integers(1, 40), st.integers(0, 3), st.integers(20, 900)),
            st.tuples(st.sampled_from(["loss", "timeout"]), st.integers(0, 2)),
        ),
        max_size=60,
    ),
    st.sampled_from(["xmp", "balia", "dcm", "olia"]),
)
@settings(max_examples=40, deadline=None)
def test_a_group_does_what_a_trace_does(events: list[tuple[object, ...]], name: str) -> None:
    group = tresse.Group(name, 3)
    lines = ["subflows 3"]
    steps = []
    for kind, subflow, *rest in events:
        assert isinstance(subflow, int)
        if kind == "ack":
            packets, marked, rtt = rest
            assert isinstance(packets, int)
            assert isinstance(marked, int)
            steps.append(group.ack(subflow, packets, marked=min(marked, packets), rtt=f"{rtt}us"))
            lines.append(f"ack {packets} marked={min(marked, packets)} rtt={rtt}us subflow={subflow}")
        else:
            steps.append(group.loss(subflow) if kind == "loss" else group.timeout(subflow))
            lines.append(f"{kind} subflow={subflow}")
    assert steps == tresse.Controller(name).trace("\n".join(lines))
    for place, subflow in enumerate(group.subflows):
        own = [step for step in steps if step.subflow == place]
        assert subflow.cwnd == (own[-1].cwnd if own else 10)


def test_steps_are_a_table() -> None:
    steps = tresse.Controller("xmp", beta=6).trace("ack 10\nack 20 marked=1\nloss")
    frame = polars.DataFrame(steps)
    assert frame.columns == ["event", "subflow", "cwnd", "ssthresh", "state"]
    assert frame["event"].to_list() == ["ack", "mark", "loss"]
    assert steps._repr_html_().count("<tr>") == 4


def test_reno_has_its_sawtooth() -> None:
    group = tresse.Controller("reno").group(1, initial_window=10)
    assert group.loss().cwnd == 5
    for expected in range(6, 12):
        window = group.subflows[0].cwnd
        group.ack(0, window)
        # The first round after a loss is the reduction's.
        assert group.subflows[0].cwnd in (expected, expected - 1)
    assert group.subflows[0].srtt_s == pytest.approx(100e-6)


def test_parameters_are_declared_and_set() -> None:
    controller = tresse.Controller("xmp", beta=6)
    assert {own.name: own.value for own in controller.parameters}["beta"] == 6
    assert "beta=6" in repr(controller)
    assert controller.coupled
    with pytest.raises(tresse.TresseError, match="gamma"):
        tresse.Controller("xmp", gamma=1)
    with pytest.raises(tresse.TresseError, match="beta"):
        tresse.Controller("xmp", beta=10**6)
    assert set(names()) >= {"xmp", "dcm", "lia", "reno", "cubic"}


def test_a_file_of_one_s_own(folder: Path) -> None:
    file = with_own(folder, "half", TEMPLATE)
    assert tresse.Controller(file).trace("loss")[0].cwnd == 5
    assert tresse.Controller(file, cut=20).trace("loss")[0].cwnd == 8


def test_a_file_that_does_not_compile_names_its_line(folder: Path) -> None:
    file = with_own(folder, "wrong", TEMPLATE.replace("own->delivered += a->delivered;", "own->nothing += 1;"))
    with pytest.raises(tresse.TresseError, match=r"wrong\.c:\d+"):
        tresse.Controller(file)


def test_a_hook_that_dies_is_an_error(folder: Path) -> None:
    file = with_own(folder, "divides", DIES)
    with pytest.raises(tresse.TresseError, match=r"divides\.c"):
        tresse.Controller(file).trace("ack 10\nack 10")


@pytest.mark.parametrize(
    ("line", "said"),
    [("ack x", "script:1: `x` is not a whole number"), ("loss\nfly", "script:2:"), ("loss subflow=7", "script:1:")],
)
def test_a_wrong_event_names_its_line(line: str, said: str) -> None:
    with pytest.raises(tresse.TresseError) as caught:
        tresse.Group("xmp", 2).play(line)
    assert str(caught.value).startswith(said)


def test_a_group_has_bounds() -> None:
    with pytest.raises(tresse.TresseError, match="1 to 64 subflows, not 65"):
        tresse.Group("xmp", 65)
    with pytest.raises(tresse.TresseError, match="initial_window"):
        tresse.Group("xmp", 2, initial_window=0)
