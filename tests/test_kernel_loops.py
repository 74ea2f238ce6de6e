"""Loops of kernels that add up floats write nothing: see `trellis.jit` for why."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import trellis

PACKAGE = Path(trellis.__file__).parent
FILES = sorted([*PACKAGE.glob("**/*kernels.py"), *PACKAGE.glob("**/kernels/*.py")])
IN_ANY_ORDER = {"kernel", "part", "apart"}


def innermost_loops(function):
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]
    return [loop for loop in loops if not any(inner in loops for inner in ast.walk(loop) if inner is not loop)]


def floats_of(function):
    """Names that are set to 0.0 somewhere."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                names |= set(_names_of_zero(target, node.value))
    return names


def _names_of_zero(target, value):
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, its_value in zip(target.elts, value.elts, strict=True):
            yield from _names_of_zero(one, its_value)
    elif isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, float):
        yield target.id


def adds_up(loop, floats):
    return any(isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name) and n.target.id in floats
               for n in ast.walk(loop))  # fmt: skip


def writes(loop):
    return any(isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) for n in ast.walk(loop))


def calls(loop):
    """Loops that call are not vectorised, or call kernels' parts that have loops of their own."""
    return any(isinstance(n, ast.Call) for n in ast.walk(loop) if not _is_range(n))


def _is_range(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("range", "len")


def both(source):
    found = []
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            decorators = {d.id for d in function.decorator_list if isinstance(d, ast.Name)}
            if decorators & IN_ANY_ORDER:
                floats = floats_of(function)
                found += [
                    f"{function.name}:{loop.lineno}"
                    for loop in innermost_loops(function)
                    if adds_up(loop, floats) and writes(loop) and not calls(loop)
                ]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_loop_does_both(file):
    assert both(file.read_text()) == []


def test_such_a_loop_would_be_found():
    source = "@part\ndef f(x, y):\n    a, t = 1, 0.0\n    for k in range(9):\n        y[k] = x[k]\n        t += x[k]\n"
    assert both(source) == ["f:4"]
    assert both(source.replace("@part", "@ordered_part")) == []
    assert both(source.replace("        t += x[k]\n", "    for k in range(9):\n        t += x[k]\n")) == []
