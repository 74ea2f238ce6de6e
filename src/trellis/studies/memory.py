"""Peak memory and wall time of both systems, each in a process of its own, and of processes that only import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trellis.studies.process import Apart


@dataclass(frozen=True)
class Memory:
    """`..._imported`: the system imported (and, for Trellis, its kernels loaded) with no data."""

    crfsuite: Apart
    crfsuite_imported: Apart
    trellis: Apart
    trellis_imported: Apart

    @property
    def crfsuite_growth(self) -> int | None:
        return _growth(self.crfsuite, self.crfsuite_imported)

    @property
    def trellis_growth(self) -> int | None:
        return _growth(self.trellis, self.trellis_imported)

    @property
    def ratio(self) -> dict[str, float | None]:
        """CRFsuite's figure over Trellis'."""
        return {
            "peak": quotient(self.crfsuite.peak_bytes, self.trellis.peak_bytes),
            "growth": quotient(self.crfsuite_growth, self.trellis_growth),
            "seconds": self.crfsuite.seconds / self.trellis.seconds,
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "crfsuite": {**self.crfsuite.as_json(), "growth_bytes": self.crfsuite_growth},
            "crfsuite_imported": self.crfsuite_imported.as_json(),
            "trellis": {**self.trellis.as_json(), "growth_bytes": self.trellis_growth},
            "trellis_imported": self.trellis_imported.as_json(),
            "ratio": self.ratio,
        }


def quotient(above: int | None, below: int | None) -> float | None:
    return above / below if above and below else None


def _growth(full: Apart, imported: Apart) -> int | None:
    if full.peak_bytes is None or imported.peak_bytes is None:
        return None
    return max(0, full.peak_bytes - imported.peak_bytes)
