"""What Numba does with a kernel once it is typed, without what is done again or never used.

Numba optimises a part on its own, makes it executable, and optimises it once more in each kernel
that calls it. Here the code of a part is linked into its callers as it is, and an entry is
optimised as a whole, once: the result is the same.

All this uses names that Numba does not promise to keep. So `compiled` imports this module only
under versions of Numba that it was tested with; under others Numba compiles as usual.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _EntryCode(JITCodeLibrary):
    """The code of an entry, whose functions are not optimised one by one before they are linked."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class _PartCode(_EntryCode):
    """The code of a part, which is never run by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(NativeLowering):
    _name = "lowering_of_an_entry"

    def run_pass(self, state: Any) -> bool:
        state.library = _EntryCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    _name = "lowering_of_a_part"

    def run_pass(self, state: Any) -> bool:
        state.library = _PartCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        # Callers know a part by what Python would call: a function of its own, whatever it does.
        stand_in = object().__reduce__
        state.targetctx.insert_user_function(stand_in, lowered.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = lowered._replace(cfunc=stand_in)
        return True


class _Compiler(CompilerBase):
    """All passes of Numba, but for the last that matters."""

    lowering: type[NativeLowering]

    def define_pipelines(self) -> list[Any]:
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        own = type(usual)("kernels")
        for kind, words in usual.passes:
            own.add_pass(self.lowering if kind is NativeLowering else kind, words)
        own.finalize()
        return [own]


class EntryCompiler(_Compiler):
    """How entries are compiled."""

    lowering = _EntryLowering


class PartCompiler(_Compiler):
    """How parts are compiled."""

    lowering = _PartLowering
