"""Which references to arrays kernels have to count: those to arrays that were made in the kernel.

Like `linking`, this depends on the version of Numba.
"""

from typing import Any

from numba.core import ir, types
from numba.core.compiler_machinery import register_pass
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import IRLegalization

_COUNTED: dict[Any, bool] = {}
_BASIC = types.Integer | types.SliceType
# What gives another reference to arrays that there are.
_SHARING = ("build_tuple", "cast", "null", "undef")


def is_counted(context: Any, kind: Any) -> bool:
    """Whether a value of some type is, or holds, an array."""
    if kind not in _COUNTED:
        _COUNTED[kind] = context.data_model_manager[kind].contains_nrt_meminfo()
    return _COUNTED[kind]


class References(NRTContext):
    """How references are counted: not at all in functions to which all arrays are lent."""

    def incref(self, builder: Any, typ: Any, value: Any) -> None:
        """Count one more reference."""
        if not _is_lent(builder) and is_counted(self._context, typ):
            super().incref(builder, typ, value)

    def decref(self, builder: Any, typ: Any, value: Any) -> None:
        """Count one reference less."""
        if not _is_lent(builder) and is_counted(self._context, typ):
            super().decref(builder, typ, value)

    def get_meminfos(self, builder: Any, ty: Any, val: Any) -> list[Any]:
        """Find what is counted in a value, without taking the rest of it apart."""
        model = self._context.data_model_manager[ty]
        found = [(ty, model.get_nrt_meminfo(builder, val))] if model.has_nrt_meminfo() else []
        for kind, part in model.traverse(builder):
            if is_counted(self._context, kind):
                found += self.get_meminfos(builder, kind, part(val))
        return found


def _is_lent(builder: Any) -> bool:
    return getattr(builder.module, "lent", False)


@register_pass(mutates_CFG=True, analysis_only=False)
class Legalization(IRLegalization):
    """Find out whether references have to be counted, and where each of them ends."""

    _name = "legalization"

    def run_pass(self, state: Any) -> bool:
        """Change the function in place."""
        state.func_ir.lent = _all_lent(state)
        state.func_ir.generator_info = None
        return True if state.func_ir.lent else bool(super().run_pass(state))


def _all_lent(state: Any) -> bool:
    """Whether all arrays of a function belong to its callers."""

    def counted(kind: Any) -> bool:
        return is_counted(state.targetctx, kind)

    if counted(state.return_type):
        return False
    for block in state.func_ir.blocks.values():
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                lent = _lends(statement, state, counted)
            elif isinstance(statement, ir.SetItem):
                names = statement.index.name, statement.value.name
                lent = not any(counted(state.typemap[name]) for name in names)
            elif isinstance(statement, ir.StaticSetItem):
                lent = not counted(state.typemap[statement.value.name])
            else:
                lent = isinstance(statement, ir.Jump | ir.Branch | ir.Return)
            if not lent:
                return False
    return True


def _lends(statement: Any, state: Any, counted: Any) -> bool:
    """Whether an assignment makes no array, not even for a while."""
    value = statement.value
    if not isinstance(value, ir.Expr) or value.op in _SHARING:
        return True
    if value.op == "call":
        signature, function = state.calltypes[value], state.typemap[value.func.name]
        if isinstance(function, types.Dispatcher) or getattr(function, "typing_key", None) is len:
            return not counted(signature.return_type)
        # What Numba does with arrays may need others.
        return not any(map(counted, (signature.return_type, *signature.args)))
    if value.op in ("getitem", "static_getitem", "exhaust_iter"):
        kind = state.typemap[value.value.name]
        if isinstance(kind, types.BaseTuple) or _is_view(kind, state.calltypes.get(value)):
            return True
    return not counted(state.typemap[statement.target.name])


def _is_view(kind: Any, signature: Any) -> bool:
    """Whether a part of an array is taken as it stands."""
    if not isinstance(kind, types.Array) or signature is None:
        return False
    index = signature.args[1]
    kinds = index.types if isinstance(index, types.BaseTuple) else (index,)
    return all(isinstance(each, _BASIC) for each in kinds)
