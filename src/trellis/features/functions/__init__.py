"""The functions of the feature language: one file an idea, one line here each."""

from trellis.features.functions.contract import (
    Argument,
    Arguments,
    Function,
    Resource,
    Row,
    Rows,
    Sentences,
    Tables,
    Values,
)
from trellis.features.functions.registry import Registry

# name -> where it is; a file is imported when one of its functions is first asked for
FUNCTIONS = Registry(
    x="spelling.ITSELF",
    lower="spelling.LOWER",
    prefix="affixes.PREFIX",
    suffix="affixes.SUFFIX",
    ngrams="parts.NGRAMS",
    shape="shapes.SHAPE",
    short_shape="shapes.SHORT_SHAPE",
    is_capitalized="kinds.IS_CAPITALIZED",
    all_caps="kinds.ALL_CAPS",
    all_lower="kinds.ALL_LOWER",
    all_digits="kinds.ALL_DIGITS",
    has_digit="kinds.HAS_DIGIT",
    has_hyphen="kinds.HAS_HYPHEN",
    has_dot="kinds.HAS_DOT",
    has_upper="kinds.HAS_UPPER",
    is_punctuation="kinds.IS_PUNCTUATION",
    caps_dot="kinds.CAPS_DOT",
    initial="kinds.INITIAL",
    length="kinds.LENGTH",
    regex="patterns.REGEX",
    find="patterns.FIND",
    t="wapiti.T",
    m="wapiti.M",
    each="parts.EACH",
    word_ngrams="texts.WORD_NGRAMS",
    word_count="texts.WORD_COUNT",
    number="numbers.NUMBER",
    is_first="places.IS_FIRST",
    is_last="places.IS_LAST",
    tags="tags.TAGS",
    tags_elsewhere="tags.TAGS_ELSEWHERE",
    cluster="clusters.CLUSTER",
    vectors="vectors.VECTORS",
    gazetteer="gazetteer.GAZETTEER",
    apply="own.APPLY",
    apply_sentence="own.APPLY_SENTENCE",
    apply_pair="own.APPLY_PAIR",
)

__all__ = ["FUNCTIONS", "Argument", "Arguments", "Function", "Resource", "Row", "Rows", "Sentences", "Tables", "Values"]
