"""The functions of the feature language: one file an idea, one line here each."""

from trellis.features.functions.affixes import PREFIX, SUFFIX
from trellis.features.functions.contract import (
    Argument,
    Arguments,
    Function,
    Resource,
    Row,
    Rows,
    Sentences,
    Tables,
)
from trellis.features.functions.spelling import ITSELF, LOWER

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        ITSELF,
        LOWER,
        PREFIX,
        SUFFIX,
    )
}

__all__ = ["FUNCTIONS", "Argument", "Arguments", "Function", "Resource", "Row", "Rows", "Sentences", "Tables"]
