"""How a kernel becomes instructions, without those that the optimiser would only take out again.

Numba keeps most variables in memory, counts references to every array, and looks up again what the
types say. All of that is text that has to be written, read and optimised. Like `linking`, this
depends on the version of Numba.
"""

import operator
from collections.abc import Iterator, Mapping
from typing import Any

from numba.core import ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.lowering import Lower

from colonnade.kernels.calls import Builder, drop_unused
from colonnade.kernels.inference import type_of
from colonnade.kernels.references import is_counted

_NUMBERS = types.Number | types.Boolean
# An exponent that is known becomes multiplications, which Numba sees to.
_POWERS = {operator.pow, operator.ipow}


class Lowering(Lower):
    """How a function becomes instructions.

    Variables that are assigned once are values and have no place in memory, and references are
    counted only to arrays that the function itself may have made.
    """

    # Variables would otherwise be kept in memory for a debugger.
    _disable_sroa_like_opt = False

    def setup_function(self, fndesc: Any) -> None:
        """Begin to write instructions."""
        super().setup_function(fndesc)
        self.builder.__class__ = Builder

    def lower_normal_function(self, fndesc: Any) -> None:
        """Write the instructions of a function."""
        super().lower_normal_function(fndesc)
        drop_unused(self.function)

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables that need no place in memory."""
        self._all_stay: bool = self.func_ir.made is not None
        self.module.all_stay = self._all_stay
        self._singly_assigned_vars, self._blk_local_varmap = set(), {}
        if not self._all_stay:
            super()._find_singly_assigned_variable()
        once = _assigned_once(self.blocks)
        # The caller holds arguments as long as the function runs.
        self._arguments = {name for name, value in once.items() if isinstance(value, ir.Arg)}
        self._singly_assigned_vars |= {name for name in once if not self._counts(name)}

    def _counts(self, name: str) -> bool:
        """Whether references to the array in a variable have to be counted."""
        if self._all_stay or name in self._arguments:
            return False
        return is_counted(self.context, self.typeof(name))

    def lower_block(self, block: Any) -> None:
        """Write the instructions of a block."""
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            if isinstance(statement, ir.Assign):
                name = statement.target.name
                self.storevar(self.lower_assign(self.typeof(name), statement), name)
            else:
                if isinstance(statement, ir.Return):
                    self._let_go()
                self.lower_inst(statement)
        self.post_block(block)

    def _let_go(self) -> None:
        """Let go of what the function has made, if it does so when it returns."""
        for name in self.func_ir.made or ():
            self.context.nrt.let_go(self.builder, self.typeof(name), self.loadvar(name))

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """Find the value that is assigned."""
        if inst.target.name not in self._arguments:
            return super().lower_assign(ty, inst)
        kind = self.typeof(f"arg.{inst.value.name}")
        if isinstance(kind, types.Omitted):
            return super().lower_assign(ty, inst)
        return self.context.cast(self.builder, self.fnargs[inst.value.index], kind, ty)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Set a variable."""
        if name not in self._singly_assigned_vars and not self._counts(name):
            # There is nothing to let go of.
            self.builder.store(value, self.getvar(name))
        else:
            super().storevar(value, name, argidx)

    def delvar(self, name: str) -> None:
        """Let go of what a variable stands for."""
        if self._counts(name):
            super().delvar(name)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Do arithmetic."""
        signature = self.fndesc.calltypes[expr]
        if op in _POWERS or not all(map(_is_number, signature.args)):
            return super().lower_binop(resty, expr, op)
        if expr.op == "inplace_binop":
            # The types were found for the operation in place.
            typing = self.context.typing_context
            type_of(typing, op).get_call_type(typing, signature.args, {})
        known = self._done(op, (expr.lhs, expr.rhs), signature)
        return self.context.cast(self.builder, known, signature.return_type, resty)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read what an index stands for."""
        known = self._done(operator.getitem, (value, index), signature)
        return self.context.cast(self.builder, known, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write what an index stands for."""
        return self._done(operator.setitem, (target_var, index_var, value_var), signature)

    def _done(self, operation: Any, variables: tuple[Any, ...], signature: Any) -> Any:
        """Write the instructions of an operation whose types are known."""
        function = type_of(self.context.typing_context, operation)
        write = self.context.get_function(function, signature)
        pairs = zip(variables, signature.args, strict=True)
        return write(self.builder, [self._cast_var(each, kind) for each, kind in pairs])


def _is_number(kind: Any) -> bool:
    return isinstance(kind, _NUMBERS) and not isinstance(kind, types.Literal)


def _assigned_once(blocks: Mapping[Any, Any]) -> dict[str, Any]:
    """Variables that are assigned in one place, before each use, and what is assigned."""
    above = compute_cfg_from_blocks(blocks).dominators()
    places: dict[str, int] = {}
    once: dict[str, Any] = {}
    not_once: set[str] = set()
    # Instructions are written in this order.
    for place, block in sorted(blocks.items()):
        for statement in block.body:
            for name in _used(statement):
                if name not in places or places[name] not in above[place]:
                    not_once.add(name)
            if isinstance(statement, ir.Assign):
                name = statement.target.name
                if name in places:
                    not_once.add(name)
                places[name], once[name] = place, statement.value
    return {name: value for name, value in once.items() if name not in not_once}


def _used(statement: Any) -> Iterator[str]:
    """Names of the variables that a statement reads."""
    if isinstance(statement, ir.Del):
        return
    if isinstance(statement, ir.Assign):
        value = statement.value
        waiting = list(value._kws.values()) if isinstance(value, ir.Expr) else [value]
    else:
        waiting = list(vars(statement).values())
    while waiting:
        each = waiting.pop()
        if isinstance(each, ir.Var):
            yield each.name
        elif isinstance(each, list | tuple):
            waiting += each
        elif isinstance(each, dict):
            waiting += each.values()
