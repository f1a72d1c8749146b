"""How kernels call each other, in few instructions.

Like `linking`, this depends on the version of Numba.
"""

from collections import Counter
from typing import Any

from llvmlite import ir
from llvmlite.ir.instructions import InsertValue, PhiInstr
from numba.core import types
from numba.core.callconv import RETCODE_OK, CPUCallConv, Status, excinfo_ptr_t

# The name of an argument that points to the elements of an array ends so.
_ELEMENTS = ".4"
_UNKNOWN = Status._make([None] * len(Status._fields))


class Builder(ir.IRBuilder):  # type: ignore[misc]
    """Writes instructions, and knows what was put into a structure."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Take a value out of a structure."""
        path = list(idx) if isinstance(idx, list | tuple) else [idx]
        while path and isinstance(agg, InsertValue):
            place = list(agg.indices)
            if path[: len(place)] == place:
                agg, path = agg.operands[1], path[len(place) :]
            elif place[: len(path)] == path:
                # A part of what is asked for was put in.
                break
            else:
                agg = agg.operands[0]
        return super().extract_value(agg, path, name) if path else agg


def drop_unused(function: Any) -> None:
    """Take out what puts structures together that are never used as a whole."""
    uses: Counter[int] = Counter()
    for block in function.blocks:
        for each in block.instructions:
            uses.update(map(id, _operands(each)))
    for block in reversed(function.blocks):
        kept = []
        for each in reversed(block.instructions):
            if isinstance(each, InsertValue) and not uses[id(each)]:
                uses.subtract(map(id, each.operands))
            else:
                kept.append(each)
        block.instructions[:] = reversed(kept)


def _operands(instruction: Any) -> list[Any]:
    if isinstance(instruction, PhiInstr):
        return [value for value, _ in instruction.incomings]
    return list(instruction.operands)


class Calls(CPUCallConv):
    """How a kernel calls another, and hands on its errors: there is no `try` in kernels."""

    def decorate_function(
        self, function: Any, arguments: Any, types_of_them: Any, noalias: bool = False
    ) -> None:
        """Name the arguments of a function, and say which ones are separate.

        Those are the elements of arrays; what counts the references to them may be the same.
        """
        super().decorate_function(function, arguments, types_of_them)
        for each in self.get_arguments(function) if noalias else ():
            if each.name.endswith(_ELEMENTS):
                each.add_attribute("noalias")

    def call_function(
        self, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None
    ) -> Any:
        """Call a function, and return what it says about errors and what it returns."""
        if not isinstance(builder, Builder) or isinstance(resty, types.Optional):
            return super().call_function(builder, callee, resty, argtys, args, attrs)
        with builder.goto_entry_block():
            result = builder.alloca(self.get_return_type(resty).pointee)
            error = builder.alloca(excinfo_ptr_t)
        values = self._get_arg_packer(argtys).as_arguments(builder, args)
        code = builder.call(callee, [result, error, *values], attrs=attrs or ())
        is_error = builder.icmp_signed("!=", code, RETCODE_OK)
        status = _UNKNOWN._replace(code=code, is_error=is_error, excinfoptr=error)
        return status, self.context.get_returned_value(builder, resty, builder.load(result))

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Return the error of a function that was called."""
        if not isinstance(builder, Builder):
            super().return_status_propagate(builder, status)
            return
        builder.store(builder.load(status.excinfoptr), self._get_excinfo_argument(builder.function))
        builder.ret(status.code)
