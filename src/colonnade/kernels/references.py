"""Which references to arrays kernels have to count: those to arrays that come and go.

Most arrays do not. Those of a caller, and parts of them, are there as long as the function runs. So
are arrays that a function makes before its loops, if it lets go of them when it returns. Counting
takes as long as a short loop, and what counts has to be compiled.

Like `linking`, this depends on the version of Numba.
"""

from typing import Any

from numba.core import ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import IRLegalization

from colonnade.kernels.allocation import is_maker

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
    """How references are counted: not at all in functions all of whose arrays stay."""

    def incref(self, builder: Any, typ: Any, value: Any) -> None:
        """Count one more reference."""
        if not _all_stay(builder) and is_counted(self._context, typ):
            super().incref(builder, typ, value)

    def decref(self, builder: Any, typ: Any, value: Any) -> None:
        """Count one reference less."""
        if not _all_stay(builder) and is_counted(self._context, typ):
            super().decref(builder, typ, value)

    def let_go(self, builder: Any, typ: Any, value: Any) -> None:
        """Count one reference less to an array that a function has made, where it returns."""
        super().decref(builder, typ, value)

    def get_meminfos(self, builder: Any, ty: Any, val: Any) -> list[Any]:
        """Find what is counted in a value, without taking the rest of it apart."""
        model = self._context.data_model_manager[ty]
        found = [(ty, model.get_nrt_meminfo(builder, val))] if model.has_nrt_meminfo() else []
        for kind, part in model.traverse(builder):
            if is_counted(self._context, kind):
                found += self.get_meminfos(builder, kind, part(val))
        return found


def _all_stay(builder: Any) -> bool:
    return getattr(builder.module, "all_stay", False)


@register_pass(mutates_CFG=True, analysis_only=False)
class Legalization(IRLegalization):
    """Find out whether references have to be counted, and where each of them ends."""

    _name = "legalization"

    def run_pass(self, state: Any) -> bool:
        """Change the function in place."""
        made = _made_to_stay(state)
        state.func_ir.made = made
        state.func_ir.generator_info = None
        return True if made is not None else bool(super().run_pass(state))


def _made_to_stay(state: Any) -> list[str] | None:
    """Variables that hold what a function makes; None if something may go before it returns."""

    def counted(kind: Any) -> bool:
        return is_counted(state.targetctx, kind)

    made: dict[str, int] = {}
    assigned: list[str] = []
    if counted(state.return_type):
        return None
    for place, block in state.func_ir.blocks.items():
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                assigned.append(statement.target.name)
                makes = _makes(statement.value, state, counted)
                stays = makes or _lends(statement, state, counted)
                if makes:
                    made[statement.target.name] = place
            elif isinstance(statement, ir.SetItem):
                names = statement.index.name, statement.value.name
                stays = not any(counted(state.typemap[name]) for name in names)
            elif isinstance(statement, ir.StaticSetItem):
                stays = not counted(state.typemap[statement.value.name])
            else:
                stays = isinstance(statement, ir.Jump | ir.Branch | ir.Return)
            if not stays:
                return None
    # A variable still holds what was made when the function returns.
    kept = all(assigned.count(name) == 1 for name in made)
    return list(made) if kept and _always_once({*made.values()}, state.func_ir.blocks) else None


def _always_once(places: set[int], blocks: Any) -> bool:
    """Whether a function goes through some blocks once, whatever happens."""
    if not places:
        return True
    graph = compute_cfg_from_blocks(blocks)
    if any(places & loop.body for loop in graph.loops().values()):
        return False
    above = graph.dominators()
    return all(places <= above[end] for end in graph.exit_points())


def _makes(value: Any, state: Any, counted: Any) -> bool:
    """Whether an expression is a call that returns an array of its own."""
    if not isinstance(value, ir.Expr) or value.op != "call":
        return False
    signature, function = state.calltypes[value], state.typemap[value.func.name]
    ours = isinstance(function, types.Dispatcher) or is_maker(function, signature)
    return ours and counted(signature.return_type)


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
