"""How the types of a kernel are found, without asking the same question twice.

Like `linking`, this depends on the version of Numba.
"""

import operator
from contextlib import AbstractContextManager, nullcontext
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from numba.core import types
from numba.core.compiler_machinery import register_pass
from numba.core.interpreter import (
    Interpreter,
    peep_hole_delete_with_exit,
    peep_hole_fuse_dict_add_updates,
)
from numba.core.ir_utils import build_definitions
from numba.core.rewrites.static_getitem import RewriteConstGetitems, RewriteConstSetitems
from numba.core.ssa import reconstruct_ssa
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NopythonTypeInference, PreLowerStripPhis
from numba.core.typeinfer import TypeInferer
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import ReconstructSSA, TranslateByteCode

from colonnade.kernels import allocation, elements, numbers

# Functions, classes and modules that kernels name, and what Numba takes them for.
_KNOWN: dict[Any, Any] = {}
_LASTING = BuiltinFunctionType | FunctionType | ModuleType | type
# What a function gives for arguments of some types, and which implementation does that.
_FOUND: dict[Any, Any] = {}


# What Numba does about `with` and about dictionaries, which kernels do not have.
_NEEDLESS = (peep_hole_delete_with_exit, peep_hole_fuse_dict_add_updates)


class _Interpreter(Interpreter):
    def post_process(self, peepholes: Any, func_ir: Any) -> Any:
        return super().post_process([each for each in peepholes if each not in _NEEDLESS], func_ir)


@register_pass(mutates_CFG=True, analysis_only=False)
class Translation(TranslateByteCode):
    """What Python would run becomes statements that can be compiled."""

    _name = "translation"

    def run_pass(self, state: Any) -> bool:
        """Read the function."""
        state["func_ir"] = _Interpreter(state["func_id"]).interpret(state["bc"])
        return True


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


def type_of(context: Any, value: Any) -> Any:
    """Return the type of a value that a kernel names.

    Numba raises and catches errors to find that of a function.
    """
    if not isinstance(value, _LASTING):
        return context.resolve_value_type(value)
    if value not in _KNOWN:
        _KNOWN[value] = context.resolve_value_type(value)
    return _KNOWN[value]


class _Remembering:
    """What is known of functions and types, where each function is resolved once."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        builtin = isinstance(function, BaseFunction)
        for known in (elements, numbers, allocation) if builtin and not kws else ():
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

    def resolve_value_type(self, value: Any) -> Any:
        return type_of(self._context, value)

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        function = type_of(self._context, operator.setitem)
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
        context, function = state.typingctx, state.func_ir
        inferer = TypeInferer(_Remembering(context), function, _Warnings())
        target = state.targetctx.target
        with context.callstack.register(target, inferer, function.func_id, state.args):
            for index, pair in enumerate(zip(function.arg_names, state.args, strict=True)):
                name, kind = pair
                inferer.seed_argument(name, index, kind)
            inferer.build_constraint()
            inferer.propagate()
            state.typemap, state.return_type, state.calltypes = inferer.unify()
        return True


class _Warnings:
    """What Numba collects warnings with, line by line; here they go their usual way."""

    def catch_warnings(self, filename: str, lineno: int) -> AbstractContextManager[None]:
        return nullcontext()


@register_pass(mutates_CFG=True, analysis_only=False)
class WithoutPhis(PreLowerStripPhis):
    """Undo the single assignment, which is for finding types."""

    _name = "without_phis"

    def run_pass(self, state: Any) -> bool:
        """Change the function in place."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True
