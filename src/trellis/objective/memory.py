"""How much memory a learner may take for what it keeps of every token and sentence."""

from __future__ import annotations

from trellis.errors import SettingError

MOST = 8 << 30  # bytes


def check_memory(needed: int, what_for: str) -> None:
    """SettingError where that is more than there may be: it would be found out when the machine has none left."""
    if needed > MOST:
        raise SettingError(
            f"the optimizer would need {needed / 2**30:.0f} GB for {what_for}; use lbfgs, fewer sentences or fewer "
            "features (min_count)"
        )
