"""Every notebook of the guide runs from its first cell to its last."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import long

nbclient = pytest.importorskip("nbclient", reason="skipped: nbclient is not installed (pip install nbclient ipykernel)")
nbformat = pytest.importorskip("nbformat", reason="skipped: nbformat is not installed (pip install nbformat)")
pytest.importorskip("ipykernel", reason="skipped: ipykernel is not installed (pip install ipykernel)")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "docs/notebooks").glob("*.ipynb"))


def test_the_guide_is_there() -> None:
    assert {own.stem for own in NOTEBOOKS} >= {"first-figure", "my-controller", "my-fabric", "a-sweep", "learning"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert not cell.get("execution_count")


@pytest.mark.parametrize(
    "path",
    [pytest.param(own, marks=() if own.stem == "first-figure" else long, id=own.stem) for own in NOTEBOOKS],
)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(path, as_version=4)
    source = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for module in sorted(set(re.findall(r"^(?:import|from) (\w+)", source, re.M))):
        pytest.importorskip(module, reason=f"skipped: {module} is not installed (pip install {module})")
    if "%%writefile" in source and shutil.which("cc") is None:
        pytest.skip("skipped: no C compiler is installed (apt-get install gcc)")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    if "run.plot." in source:
        outputs = [own for cell in notebook.cells for own in cell.get("outputs", [])]
        assert any("image/png" in own.get("data", {}) for own in outputs), "no figure is shown"
