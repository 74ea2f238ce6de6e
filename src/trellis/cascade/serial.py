"""A trained cascade as description and tensors, and back."""

from __future__ import annotations

from typing import Any


def description_of(cascade: Any) -> Any: ...
def cascade_from(cls: Any, description: Any, tensors: Any, path: Any, functions: Any) -> Any: ...
