"""Numbers side by side in one register, for kernels whose loops must run at the full width of the machine.

A vectoriser decides by itself what becomes of a loop, and short rows (22 labels) often fare badly: the wide body of
the loop is for more numbers than there are, and what is left over goes one by one. Here the kernel says it: `load`
takes as many neighbouring numbers of a row as a register holds, and `+`, `-`, `*`, `multiply_add` work on all of them.
Rows have a multiple of PAD numbers, so that nothing is left over.

Lanes never meet but in `total` and `highest`, always in the same order. Without the compiler (NUMBA_DISABLE_JIT) the
same names do the same with small arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import compiling, ordered_part
from trellis.rows import PAD

Array = Any
Lanes = Any  # numbers side by side

_LOG2E = 1.4426950408889634
_LN2_HIGH = 0.693145751953125  # the first bits of ln 2: exact times any exponent
_LN2_LOW = 1.42860682030941723212e-6
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the lowest bits


class _Quiet(np.ndarray):
    """Numbers that may become infinite without a word, as in a register."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):
            found = getattr(ufunc, method)(*(np.asarray(x) for x in inputs), **options)
        return found.view(_Quiet) if isinstance(found, np.ndarray) else found


def _plain() -> dict[str, Any]:
    """The same without a compiler."""

    def load(a: Array, i: int, j: int) -> Lanes:
        assert 0 <= j <= a.shape[1] - LANES
        return a[i, j : j + LANES].copy().view(_Quiet)

    def load_doubles(a: Array, i: int, j: int) -> Lanes:
        return load(a, i, j).astype(np.float64)

    def store(a: Array, i: int, j: int, v: Lanes) -> None:
        assert 0 <= j <= a.shape[1] - LANES
        a[i, j : j + LANES] = v

    def chosen(test: Any, v: Any, other: Any) -> Lanes:
        return np.asarray(np.where(test, v, other)).view(_Quiet)

    def power_of_two(shifted: Lanes) -> Lanes:
        return ((shifted.view(np.int64) + 1023) << 52).view(np.float64)

    def multiply_add(x: Lanes, y: Lanes, c: Lanes) -> Lanes:
        return (x * y + c).astype(c.dtype, copy=False)

    return {
        "load": load,
        "load_doubles": load_doubles,
        "store": store,
        "prefetch": lambda a, i, j: None,
        "splat": lambda x: np.full(LANES, x).view(_Quiet),
        "multiply_add": multiply_add,
        "larger": np.maximum,
        "smaller": np.minimum,
        "where_positive": lambda test, v: chosen(test > 0.0, v, 0.0),
        "where_bits": lambda bits, v: chosen((int(bits) >> np.arange(LANES)) & 1, v, 0.0),
        "where_above": lambda test, bound, v, other: chosen(test > bound, v, other),
        "total": lambda v: float(v.sum()),
        "highest": lambda v: float(v.max()),
        "power_of_two": power_of_two,
    }


def _compiled() -> tuple[int, dict[str, Any]]:
    """How many numbers a register holds, and what can be done with them."""
    compiling_now = compiling()  # or there is no compiler, and an error says so
    from trellis.lanes_compiled import operations_on, widest

    count = widest()
    return count, operations_on(count) if compiling_now else _plain()


LANES, _operations = _compiled()
assert PAD % LANES == 0

load: Any = _operations["load"]  # (a: F64 or F32[rows, columns], i, j) -> a[i, j:j + LANES]
load_doubles: Any = _operations["load_doubles"]  # the same, in double precision whatever the array is
store: Any = _operations["store"]  # (a, i, j, v): a[i, j:j + LANES] = v
prefetch: Any = _operations["prefetch"]  # (a, i, j): a[i, j] will be asked for soon; it need not be there
splat: Any = _operations["splat"]  # x in all lanes
multiply_add: Any = _operations["multiply_add"]  # x y + c, with one rounding where the machine can
larger: Any = _operations["larger"]  # of each pair
smaller: Any = _operations["smaller"]
where_positive: Any = _operations["where_positive"]  # (test, v): v where test > 0, else 0
where_above: Any = _operations["where_above"]  # (test, bound, v, other): v where test > bound, else other
where_bits: Any = _operations["where_bits"]  # (bits, v): v in lanes whose bit is set, the lowest first, else 0
total: Any = _operations["total"]  # of all lanes
highest: Any = _operations["highest"]
_power_of_two: Any = _operations["power_of_two"]  # 2^n, for n + _ROUND


@ordered_part
def exp(v: Lanes) -> Lanes:
    """exp(v) for v <= 0, and 0 below -708. Relative error below 1e-15.

    exp(v) = 2^n exp(f) with |f| <= ln(2)/2 and Taylor's polynomial for exp(f). There is no call and no conversion
    between floats and integers in it.
    """
    d = larger(v, splat(-708.0))
    shifted = d * _LOG2E + _ROUND
    n = shifted - _ROUND
    f = (d - n * _LN2_HIGH) - n * _LN2_LOW
    p = f * (1.0 / 479001600.0) + 1.0 / 39916800.0
    p = p * f + 1.0 / 3628800.0
    p = p * f + 1.0 / 362880.0
    p = p * f + 1.0 / 40320.0
    p = p * f + 1.0 / 5040.0
    p = p * f + 1.0 / 720.0
    p = p * f + 1.0 / 120.0
    p = p * f + 1.0 / 24.0
    p = p * f + 1.0 / 6.0
    p = p * f + 0.5
    p = p * f + 1.0
    p = p * f + 1.0
    return where_above(v, -708.0, p * _power_of_two(shifted), 0.0)
