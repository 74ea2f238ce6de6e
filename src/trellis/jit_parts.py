"""How pieces of kernels are compiled: as far as the language of LLVM, and no further.

Left to itself, Numba optimises every piece and makes machine code of it, with an entrance for Python, and then does the
same with each kernel that has the piece in it; the pieces' own code never runs. Here a piece is kept as it comes from
Numba, linked into its kernels, and optimised with them and only there. That spares a third of the time to compile. And
a piece has one machine code in each kernel whether it is inlined or not, so `apart` ones may stay functions: several
calls of a large piece share its code.
"""

# mypy: disable-error-code="misc, no-untyped-call, no-untyped-def"
from __future__ import annotations

import ctypes
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

# In the place of a piece's entrance for Python, with the same signature: it calls Numba's closure, which cannot be
# called, and a TypeError says so.
_REFUSE = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value or 0


class _Codegen:
    """Numba's, but for a piece's environment: there is no machine code that could have one."""

    def __init__(self, codegen: Any):
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, env: Any) -> None:
        pass


class PartLibrary(JITCodeLibrary):
    """A module that is only ever linked into others."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return _REFUSE

    @property
    def codegen(self) -> Any:
        return _Codegen(self._codegen)


class ApartLibrary(PartLibrary):
    """The same, for pieces that stay functions."""

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "external":
                function.add_function_attribute("noinline")
        super()._finalize_final_module()


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    """Numba's own, into a library of the other kind."""

    _name = "lower_part_of_kernels"
    library: Any = PartLibrary

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerApart(_LowerPart):
    _name = "lower_apart_part_of_kernels"
    library = ApartLibrary


class PartCompiler(CompilerBase):
    """Numba's usual way but for how it ends."""

    lowering: Any = _LowerPart

    def define_pipelines(self) -> list[Any]:
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        usual.passes = [(self.lowering if one is NativeLowering else one, why) for one, why in usual.passes]
        usual._finalized = False
        usual.finalize()
        return [usual]


class ApartCompiler(PartCompiler):
    lowering = _LowerApart
