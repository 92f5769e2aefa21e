"""Which settings are best for a fabric and a workload: `tresse.tune(plan)`, the command `tresse tune`."""

from tresse.tuning.answer import Finalist, Tuning, tune

__all__ = ["Finalist", "Tuning", "tune"]
