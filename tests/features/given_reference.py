"""What tokens and matrices mean, written plainly, and ways to look into packed sentences."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

name = st.text("abc:é", min_size=1, max_size=3)
number = st.floats(allow_nan=False, allow_infinity=False)
text = st.one_of(name, name.map(str.encode))
names = st.one_of(st.lists(text, max_size=3), st.sets(text, max_size=3))
scalar = st.one_of(text, st.booleans(), st.integers(-9, 9), number, number.map(np.float64), st.just(np.True_))
dict_token = st.recursive(
    st.dictionaries(name, st.one_of(scalar, names), max_size=3),
    lambda inner: st.dictionaries(text, st.one_of(scalar, names, inner), max_size=3),
    max_leaves=6,
)
token = st.one_of(names, names.map(tuple), dict_token)
sentences = st.lists(st.lists(token, max_size=3), max_size=3)


def pairs_of(token, prefix=""):
    """The attributes of a token with their values."""
    if not isinstance(token, dict):
        texts = [as_text(attribute) for attribute in token]
        return [(prefix + attribute, 1.0) for attribute in (sorted(texts) if isinstance(token, set) else texts)]
    out = []
    for key, value in token.items():
        here = prefix + as_text(key)
        if isinstance(value, str | bytes):
            out.append((f"{here}:{as_text(value)}", 1.0))
        elif isinstance(value, list | tuple | set | dict):
            out.extend(pairs_of(value, f"{here}:"))
        else:
            out.append((here, float(value)))
    return out


def as_text(value):
    return value.decode() if isinstance(value, bytes) else value


def unpacked(packed, names):
    """For each token its attributes by name (None for -1) with their values."""
    values = np.ones(len(packed.ids)) if packed.values is None else packed.values
    return [
        [(names[i] if i >= 0 else None, v) for i, v in zip(packed.ids[a:b], values[a:b], strict=True)]
        for a, b in zip(packed.indptr, packed.indptr[1:], strict=False)
    ]
