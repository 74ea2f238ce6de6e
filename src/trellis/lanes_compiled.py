"""The operations of `lanes` as vectors of LLVM, which become whole registers of whatever machine this is."""

# mypy: disallow-untyped-calls=False, disallow-untyped-decorators=False
from __future__ import annotations

import operator
from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.extending import intrinsic, lower_builtin, register_model, type_callable


def widest() -> int:
    """How many double-precision numbers a register of this machine holds."""
    features = binding.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx") else 2


def operations_on(count: int) -> dict[str, Any]:
    """What `lanes` offers, by name."""
    integers = ir.VectorType(ir.IntType(64), count)

    class LanesType(types.Type):
        def __init__(self, kind: Any):
            self.kind = kind
            super().__init__(f"Lanes({kind}, {count})")

    kinds = {types.float64: ir.DoubleType(), types.float32: ir.FloatType()}
    lanes_of = {kind: LanesType(kind) for kind in kinds}
    vectors = {lanes_of[kind]: ir.VectorType(own, count) for kind, own in kinds.items()}
    doubles = lanes_of[types.float64]

    @register_model(LanesType)
    class _Model(PrimitiveModel):
        def __init__(self, manager: Any, fe_type: Any):
            super().__init__(manager, fe_type, vectors[fe_type])

    def same(vector: Any, x: Any) -> Any:
        """A constant."""
        return ir.Constant(vector, [x] * count)

    def spread(builder: Any, vector: Any, x: Any) -> Any:
        nothing = ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(nothing, x, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count))

    def lanes_among(given: Any) -> Any:
        """What lanes these are, of which some may be numbers; None where that is not clear."""
        found = {kind for kind in given if isinstance(kind, LanesType)}
        numbers = [kind for kind in given if not isinstance(kind, LanesType)]
        return found.pop() if len(found) == 1 and all(isinstance(kind, types.Float) for kind in numbers) else None

    def wide(context: Any, builder: Any, to: Any, kind: Any, value: Any) -> Any:
        """The value as lanes, if it is a number."""
        if kind is to:
            return value
        return spread(builder, vectors[to], context.cast(builder, value, kind, to.kind))

    def place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, checked = signature.args[0], bool(context.enable_boundscheck)
        array = context.make_array(kind)(context, builder, args[0])

        def at(column: Any) -> Any:
            return cgutils.get_item_pointer(
                context, builder, kind, array, [args[1], column], wraparound=False, boundscheck=checked
            )

        if checked:
            at(builder.add(args[2], ir.Constant(args[2].type, count - 1)))
        return builder.bitcast(at(args[2]), vectors[lanes_of[kind.dtype]].as_pointer())

    def is_rows(a: Any) -> bool:
        return isinstance(a, types.Array) and a.ndim == 2 and a.layout == "C" and a.dtype in kinds

    @intrinsic
    def load(typing: Any, a: Any, i: Any, j: Any) -> Any:
        if not is_rows(a):
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(place(context, builder, signature, args), align=a.dtype.bitwidth // 8)

        return lanes_of[a.dtype](a, types.intp, types.intp), generate

    @intrinsic
    def load_doubles(typing: Any, a: Any, i: Any, j: Any) -> Any:
        if not is_rows(a):
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            found = builder.load(place(context, builder, signature, args), align=a.dtype.bitwidth // 8)
            return found if a.dtype == types.float64 else builder.fpext(found, vectors[doubles])

        return doubles(a, types.intp, types.intp), generate

    @intrinsic
    def store(typing: Any, a: Any, i: Any, j: Any, v: Any) -> Any:
        if not is_rows(a) or v is not lanes_of[a.dtype]:
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[3], place(context, builder, signature, args), align=a.dtype.bitwidth // 8)
            return context.get_dummy_value()

        return types.void(a, types.intp, types.intp, v), generate

    @intrinsic
    def prefetch(typing: Any, a: Any, i: Any, j: Any) -> Any:
        if not is_rows(a):
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(a)(context, builder, args[0])
            at = cgutils.get_item_pointer(context, builder, a, array, args[1:], wraparound=False, boundscheck=False)
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            # to be read, to be kept in all caches, data
            hints = [ir.Constant(number, hint) for hint in (0, 3, 1)]
            builder.call(function, [builder.bitcast(at, byte), *hints])
            return context.get_dummy_value()

        return types.void(a, types.intp, types.intp), generate

    @intrinsic
    def splat(typing: Any, x: Any) -> Any:
        return doubles(types.float64), lambda context, builder, _, args: spread(builder, vectors[doubles], args[0])

    def operation(make: Any, arity: int, to_number: bool = False) -> Any:
        """An intrinsic of so many arguments, lanes or numbers; make(builder, *lanes)."""

        def typed(*given: Any) -> Any:
            to = lanes_among(given)
            if to is None:
                return None
            taken = [kind if kind is to else types.float64 for kind in given]

            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                each = zip(signature.args, args, strict=True)
                return make(builder, *(wide(context, builder, to, kind, value) for kind, value in each))

            return (to.kind if to_number else to)(*taken), generate

        by_arity = {
            1: lambda typing, x: typed(x),
            2: lambda typing, x, y: typed(x, y),
            3: lambda typing, x, y, z: typed(x, y, z),
            4: lambda typing, x, y, z, w: typed(x, y, z, w),
        }
        return intrinsic(by_arity[arity])

    def multiply_add(builder: Any, x: Any, y: Any, c: Any) -> Any:
        return builder.fadd(builder.fmul(x, y), c)

    def select(how: str) -> Any:
        return lambda builder, x, y, v, other: builder.select(builder.fcmp_ordered(how, x, y), v, other)

    above, below = select(">"), select("<")

    def larger(builder: Any, x: Any, y: Any) -> Any:
        return above(builder, x, y, x, y)

    def where_positive(builder: Any, test: Any, v: Any) -> Any:
        nothing = same(test.type, 0.0)
        return above(builder, test, nothing, v, nothing)

    @intrinsic
    def where_bits(typing: Any, bits: Any, v: Any) -> Any:
        if not isinstance(bits, types.Integer) or not isinstance(v, LanesType):
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            low = builder.trunc(args[0], ir.IntType(count)) if args[0].type.width > count else args[0]
            test = builder.bitcast(low, ir.VectorType(ir.IntType(1), count))
            return builder.select(test, args[1], same(vectors[v], 0.0))

        return v(bits, v), generate

    def joined(join: Any) -> Any:
        """All lanes joined: the second half to the first, again and again."""

        def make(builder: Any, v: Any) -> Any:
            half = count
            while half > 1:
                half //= 2
                pick = [k + half if k < half else k for k in range(count)]
                index = ir.Constant(ir.VectorType(ir.IntType(32), count), pick)
                v = join(builder, v, builder.shuffle_vector(v, v, index))
            return builder.extract_element(v, ir.Constant(ir.IntType(32), 0))

        return make

    @intrinsic
    def power_of_two(typing: Any, shifted: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            biased = builder.add(builder.bitcast(args[0], integers), same(integers, 1023))
            return builder.bitcast(builder.shl(biased, same(integers, 52)), vectors[doubles])

        return doubles(doubles), generate

    def arithmetic(symbol: Any, name: str) -> None:
        """An operator between lanes, or lanes and a number."""

        @type_callable(symbol)
        def typed(context: Any) -> Any:
            return lambda x, y: lanes_among((x, y))

        for given in ((LanesType, LanesType), (types.Float, LanesType), (LanesType, types.Float)):

            @lower_builtin(symbol, *given)
            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                to, each = signature.return_type, zip(signature.args, args, strict=True)
                return getattr(builder, name)(*(wide(context, builder, to, kind, value) for kind, value in each))

    for symbol, name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
        arithmetic(symbol, name)

    return {
        "load": load,
        "load_doubles": load_doubles,
        "store": store,
        "prefetch": prefetch,
        "splat": splat,
        "multiply_add": operation(multiply_add, 3),
        "larger": operation(larger, 2),
        "smaller": operation(lambda builder, x, y: below(builder, x, y, x, y), 2),
        "where_positive": operation(where_positive, 2),
        "where_bits": where_bits,
        "where_above": operation(above, 4),
        "total": operation(joined(lambda builder, x, y: builder.fadd(x, y)), 1, to_number=True),
        "highest": operation(joined(larger), 1, to_number=True),
        "power_of_two": power_of_two,
    }
