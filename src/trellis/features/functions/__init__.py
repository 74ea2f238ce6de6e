"""The functions of the feature language: one file an idea, one line here each."""

from trellis.features.functions.affixes import PREFIX, SUFFIX
from trellis.features.functions.clusters import CLUSTER
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
from trellis.features.functions.gazetteer import GAZETTEER
from trellis.features.functions.kinds import INITIAL, LENGTH, TESTS
from trellis.features.functions.numbers import NUMBER
from trellis.features.functions.own import APPLY, APPLY_SENTENCE
from trellis.features.functions.parts import EACH, NGRAMS
from trellis.features.functions.patterns import FIND, REGEX
from trellis.features.functions.places import IS_FIRST, IS_LAST
from trellis.features.functions.shapes import SHAPE, SHORT_SHAPE
from trellis.features.functions.spelling import ITSELF, LOWER
from trellis.features.functions.tags import TAGS
from trellis.features.functions.vectors import VECTORS
from trellis.features.functions.wapiti import M, T

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        ITSELF,
        LOWER,
        PREFIX,
        SUFFIX,
        NGRAMS,
        SHAPE,
        SHORT_SHAPE,
        *TESTS,
        INITIAL,
        LENGTH,
        REGEX,
        FIND,
        T,
        M,
        EACH,
        NUMBER,
        IS_FIRST,
        IS_LAST,
        TAGS,
        CLUSTER,
        VECTORS,
        GAZETTEER,
        APPLY,
        APPLY_SENTENCE,
    )
}

__all__ = ["FUNCTIONS", "Argument", "Arguments", "Function", "Resource", "Row", "Rows", "Sentences", "Tables"]
