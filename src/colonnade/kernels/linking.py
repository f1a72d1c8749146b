"""What Numba does with a kernel, without what is done again or never used.

Numba optimises a part on its own, makes it executable, and optimises it once more in each kernel
that calls it. Here the code of a part is linked into its callers as it is, and an entry is
optimised as a whole, once: the result is the same.

All this uses names that Numba does not promise to keep. So `compiled` imports this module only
under versions of Numba that it was tested with; under others Numba compiles as usual.
"""

from typing import Any

from llvmlite.binding import create_pass_builder, create_pipeline_tuning_options
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering, NoPythonBackend
from numba.core.untyped_passes import FixupArgs

from colonnade.kernels.compiled import SEPARATE
from colonnade.kernels.inference import Inference, Preparation, Translation, WithoutPhis
from colonnade.kernels.lowering import Lowering
from colonnade.kernels.references import Legalization
from colonnade.kernels.target import Target


class _EntryCode(JITCodeLibrary):
    """The code of an entry and of all its parts, each of which is linked once."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        for library, module in _all_below(self).items():
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(module, preserve=True)
        self._linking_libraries = []
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Optimise once; Numba has a first round that helps where arrays change hands often.

        The text of loops is not repeated: they are no faster by that, and longer to compile.
        """
        options = create_pipeline_tuning_options(config.OPT)
        options.loop_vectorization, options.slp_vectorization = True, False
        options.loop_interleaving, options.loop_unrolling = False, False
        builder = create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


class _PartCode(_EntryCode):
    """The code of a part, which is never run by itself."""

    def finalize(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration:
                # Callers may have it twice, inline it, and drop it.
                function.linkage = "linkonce_odr"
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Return the code with all that it calls, for a caller that Numba compiles as usual."""
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            for module in _all_below(self).values():
                self._shared_module.link_in(module, preserve=True)
        return self._shared_module


def _all_below(library: Any) -> dict[Any, Any]:
    """All that a library calls, and what each of them calls, with the code of each alone."""
    found: dict[Any, Any] = {}
    waiting = list(library._linking_libraries)
    while waiting:
        each = waiting.pop()
        if isinstance(each, _PartCode):
            if each not in found:
                waiting += each._linking_libraries
            found[each] = each._final_module
        else:
            found[each] = each._get_module_for_linking()
    return found


class _Lowering:
    lowering_class = Lowering


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(_Lowering, NativeLowering):
    _name = "lowering_of_an_entry"

    def run_pass(self, state: Any) -> bool:
        state.library = _EntryCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(_Lowering, NativeLowering):
    _name = "lowering_of_a_part"

    def run_pass(self, state: Any) -> bool:
        state.library = _PartCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        state.flags.noalias = hasattr(state.func_id.func, SEPARATE)
        super().run_pass(state)
        lowered = state["cr"]
        # Callers know a part by what Python would call: a function of its own, whatever it does.
        stand_in = object().__reduce__
        state.targetctx.insert_user_function(stand_in, lowered.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = lowered._replace(cfunc=stand_in)
        return True


class _Passes(PassManager):
    """Passes that are run without a check of each."""

    def _runPass(self, index: int, each: Any, state: Any) -> None:  # noqa: N802
        each.analysis = self._analysis
        each.run_pass(state)


class _Compiler(CompilerBase):
    """The passes that matter to kernels: loops over numbers and arrays that call each other.

    They have no closures, generators, contexts, exceptions or expressions of whole arrays.
    """

    lowering: type[NativeLowering]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.targetctx.__class__ = Target

    def define_pipelines(self) -> list[Any]:
        passes = _Passes("kernels")
        before = (Translation, FixupArgs, Preparation, Inference, WithoutPhis, Legalization)
        for each in (*before, self.lowering, NoPythonBackend):
            passes.add_pass(each, each._name)
        passes.finalize()
        return [passes]


class EntryCompiler(_Compiler):
    """How entries are compiled."""

    lowering = _EntryLowering


class PartCompiler(_Compiler):
    """How parts are compiled."""

    lowering = _PartLowering
