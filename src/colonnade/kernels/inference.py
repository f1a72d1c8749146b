"""How the types of a kernel are found, without asking the same question twice.

Like `linking`, this depends on the version of Numba.
"""

import operator
from typing import Any

from numba.core import types
from numba.core.compiler_machinery import register_pass
from numba.core.ir_utils import build_definitions
from numba.core.rewrites.static_getitem import RewriteConstGetitems, RewriteConstSetitems
from numba.core.ssa import reconstruct_ssa
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NopythonTypeInference, PreLowerStripPhis
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import ReconstructSSA

from colonnade.kernels import allocation, elements

# What a function gives for arguments of some types, and which implementation does that.
_FOUND: dict[Any, Any] = {}


@register_pass(mutates_CFG=True, analysis_only=False)
class Preparation(ReconstructSSA):
    """Constant indices are marked as such, and every variable is assigned once."""

    _name = "preparation"

    def run_pass(self, state: Any) -> bool:
        """Change the function in place."""
        for kind in (RewriteConstGetitems, RewriteConstSetitems):
            rewrite = kind(state)
            blocks = state.func_ir.blocks
            for key, block in blocks.items():
                while rewrite.match(state.func_ir, block, None, None):
                    block = blocks[key] = rewrite.apply()
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


class _Remembering:
    """What is known of functions and types, where each function is resolved once."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        builtin = isinstance(function, BaseFunction)
        for known in (elements, allocation) if builtin and not kws else ():
            found = known.signature_of(function.typing_key, args)
            if found is not None:
                return found
        if builtin and not any(each.prefer_literal for each in function.templates):
            # Otherwise each constant would have a type of its own.
            args = tuple(types.unliteral(each) for each in args)
        fast = frozenset(ConfigStack.top_or_none().fastmath.flags)
        key = function, args, tuple(kws.items()), fast
        if key not in _FOUND:
            found = self._context.resolve_function_type(function, args, kws)
            _FOUND[key] = found, function.get_impl_key(found) if builtin else None
        found, implementation = _FOUND[key]
        if builtin:
            function._impl_keys[found.args] = implementation
        return found

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        function = self._context.resolve_value_type(operator.setitem)
        return self.resolve_function_type(function, (target, index, value), {})

    def resolve_static_getitem(self, value: Any, index: Any) -> Any:
        # Constant indices matter to tuples alone.
        if isinstance(value, types.Array):
            return None
        return self._context.resolve_static_getitem(value, index)

    def resolve_static_setitem(self, target: Any, index: Any, value: Any) -> Any:
        if isinstance(target, types.Array):
            return None
        return self._context.resolve_static_setitem(target, index, value)


@register_pass(mutates_CFG=True, analysis_only=False)
class Inference(NopythonTypeInference):
    """Find the types of all variables."""

    _name = "remembering_inference"

    def run_pass(self, state: Any) -> bool:
        """Do as Numba does, with a memory."""
        usual = state.typingctx
        state.typingctx = _Remembering(usual)
        try:
            return bool(super().run_pass(state))
        finally:
            state.typingctx = usual


@register_pass(mutates_CFG=True, analysis_only=False)
class WithoutPhis(PreLowerStripPhis):
    """Undo the single assignment, which is for finding types."""

    _name = "without_phis"

    def run_pass(self, state: Any) -> bool:
        """Change the function in place."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True
