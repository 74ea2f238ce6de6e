"""A stand-in for a language model, and functions that ask it."""

from __future__ import annotations

import pytest
import standin

from trellis import weak


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def served():
    with standin.serving() as (model, url):
        yield model, url


@pytest.fixture
def asking(served):
    """`asking(**settings)`: (stand-in, a function that asks it and waits for nothing)."""
    model, url = served

    def make(labels=None, **settings):
        function = weak.prompted(labels or standin.LABELS, model="m", base_url=url, **{"timeout": 10.0} | settings)
        function.pauses = []
        function.pause = function.pauses.append
        return model, function

    return make
