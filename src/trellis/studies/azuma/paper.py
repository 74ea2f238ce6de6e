"""What the paper reports: Table 2, F-measure in percent; parts of speech, base phrases."""

from __future__ import annotations

TABLE_2 = {"onebest": (95.6, 92.1), "marginal": (95.6, 92.7), "joint": (95.8, 93.1)}
NAMES = {"onebest": "CRF + CRF", "marginal": "CRF + CRF-MF", "joint": "CRF + CRF-BP"}
