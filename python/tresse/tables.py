"""A run's tables in Arrow format."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tresse import _native

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

NAMES = ("flows", "jobs", "links", "samples", "queues", "paths", "rtts", "lengths", "convergence", "packets")

HOW = {
    "samples": 'set={"measure.samples": "10ms"}',
    "queues": 'set={"measure.samples": "10ms", "measure.links": True}',
    "paths": 'set={"measure.samples": "10ms"}',
    "links": 'set={"measure.links": True}',
    "rtts": 'set={"measure.rtt": True}',
    "lengths": 'set={"measure.queues": "100us"}',
    "packets": 'set={"measure.packets.hosts": [0]}',
}
"""How to get the tables that not every run has."""


class Table:
    """A table that polars, pandas, pyarrow and DuckDB read directly, through Arrow's PyCapsule interface.

    `polars.DataFrame(table)`, `pyarrow.table(table)`, and `FROM table` in DuckDB read it without copying its columns.
    """

    def __init__(self, native: _native.ArrowTable, name: str) -> None:
        self._native = native
        self.name = name

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns: a name ends in its unit."""
        return list(self._native.column_names)

    @property
    def num_rows(self) -> int:
        """How many rows it has."""
        return int(self._native.num_rows)

    def __len__(self) -> int:
        return self.num_rows

    @cached_property
    def meanings(self) -> dict[str, str]:
        """The meaning of each column, in a sentence."""
        fields: dict[str, str] = dict(_native.meanings(self._native))
        return fields

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars data frame."""
        import polars

        return polars.DataFrame(self)

    def to_pyarrow(self) -> pyarrow.Table:
        """The table as a pyarrow table."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas data frame, which is made from a pyarrow table."""
        return self.to_pyarrow().to_pandas()

    def __repr__(self) -> str:
        return f"<{self.name}: {self.num_rows} rows, {', '.join(self.column_names)}>"

    def _repr_html_(self) -> str:
        from tresse import html

        return html.table_html(self)


def read(folder: Path, name: str) -> Table | None:
    """The table `name` of the run in `folder`; None if it has none, or no rows."""
    native = _native.table(folder, name)
    return None if native is None else Table(native, name)
