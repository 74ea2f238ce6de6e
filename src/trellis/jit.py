"""How the inner loops are compiled: the decorators, one cache folder, and when compiling is worth it.

Two traps of Numba's cache are closed here. A kernel that inlines a helper from another file is not rebuilt
when only that helper changes, so the folder's name is a hash over every kernel file. And a folder that cannot
be written must not stop anyone: kernels are then compiled anew in each process.

One trap of LLVM is for kernels to mind: a loop that both adds up and writes has two versions, one for arrays that may
overlap, which adds in another order; which of them runs may depend on where memory happens to be. So in kernels, loops
over floats that add up do not write.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

from trellis.errors import SettingError
from trellis.files import cache_home

Function = TypeVar("Function", bound=Callable[..., Any])

# Importing Numba and reading compiled kernels takes about as long as tagging twice as many tokens without them.
SMALL = 20_000

_decorating = Lock()  # kernels are imported when first needed, maybe by several threads

# Not the full set: it would assume that there are no infinities, and forbidden arcs are minus infinity.
_FASTMATH = {"reassoc", "contract", "arcp", "nsz"}


def worthwhile(tokens: int) -> bool:
    """Whether work on so many tokens should use compiled kernels rather than plain NumPy; always, once Numba has
    been imported."""
    return "numba" in sys.modules or (tokens >= SMALL and _numba_is_there())


def announce(tokens: int) -> None:
    """Says how much work there is in all before it comes in pieces, so that no piece is taken for a small job."""
    if worthwhile(tokens):
        import numba  # noqa: F401


@cache
def _numba_is_there() -> bool:
    return find_spec("numba") is not None


def threads_available() -> int:
    """The processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        return os.cpu_count() or 1


def kernel(function: Function) -> Function:
    """Compiles a function for many threads: no GIL, cached on disk, results that keep infinities."""
    return _compiled(function, _FASTMATH)


def part(function: Function) -> Function:
    """A piece of kernels, always inlined; Python cannot call it."""
    return _compiled(function, _FASTMATH, "PartCompiler")


def apart(function: Function) -> Function:
    """A large piece that a kernel calls at several places, and that stays a function there."""
    return _compiled(function, _FASTMATH, "ApartCompiler")


def ordered_kernel(function: Function) -> Function:
    """A kernel whose sums are taken as they are written: (a + b) - c is not a + (b - c) where numbers are large."""
    return _compiled(function, _FASTMATH - {"reassoc"})


def ordered_part(function: Function) -> Function:
    """A piece of such kernels."""
    return _compiled(function, _FASTMATH - {"reassoc"}, "PartCompiler")


def alone(piece: Any) -> Any:
    """A piece as a kernel of its own, for who wants to call or to time just that."""
    return kernel(piece.py_func) if compiling() else piece


def compiling() -> bool:
    """Whether kernels are compiled (or run as Python, for tests); SettingError where nothing can compile them."""
    return not _numba().config.DISABLE_JIT


def _numba() -> Any:
    try:
        import numba
    except ImportError:
        raise SettingError("this needs the package numba, which is not installed") from None
    return numba


def _compiled(function: Function, fastmath: set[str], compiler: str | None = None) -> Function:
    """`compiler`: the one of `jit_parts`, for a piece."""
    numba = _numba()
    config: Any = numba.config
    folder = _cache_folder()
    # The locator of a function's cache is fixed when it is decorated; other people's kernels keep theirs.
    with _decorating:
        before = config.CACHE_DIR
        config.CACHE_DIR = folder or before
        try:
            how: dict[str, Any] = {"cache": folder is not None}
            if compiler is not None:
                from trellis import jit_parts

                # kept with the kernels that they are part of
                how = {"cache": False, "no_cpython_wrapper": True, "pipeline_class": getattr(jit_parts, compiler)}
                how["forceinline"] = compiler == "PartCompiler"
            decorate = numba.njit(nogil=True, fastmath=fastmath, no_cfunc_wrapper=True, **how)
            return cast(Function, _without_literals(decorate(function)))
        finally:
            config.CACHE_DIR = before


def _without_literals(compiled: Any) -> Any:
    """A number that is written in a call, or that a variable begins with, is a number like any other: Numba would
    compile the callee once more for it."""
    if not compiling():
        return compiled
    from numba.core.types import unliteral

    usual = compiled.get_call_template
    compiled.get_call_template = lambda args, kws: usual(tuple(map(unliteral, args)), kws)
    return compiled


def first_run() -> bool:
    """Whether kernels still have to be compiled, which takes some seconds."""
    folder = _cache_folder()
    return folder is None or not any(Path(folder).iterdir())


@cache
def _cache_folder() -> str | None:
    try:
        folder = cache_home() / "kernels" / _fingerprint()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except (OSError, SettingError):
        return None


def _fingerprint() -> str:
    """A hash of every file that holds kernels."""
    package = Path(__file__).parent
    digest = hashlib.sha256()
    kernels = [*package.glob("lanes*.py"), *package.glob("**/*kernels.py"), *package.glob("**/kernels/*.py")]
    for file in sorted([*package.glob("jit*.py"), package / "rows.py", *kernels]):
        digest.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
