"""Feature sets that have a name, each with its source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """`text`: features as an expression or template lines; `more`: features that are added for each further column
    that the corpus has; `source`: what they are and where they come from."""

    source: str
    text: str
    more: tuple[tuple[str, str], ...] = ()


_CHUNKING = """
U00:%x[-2,word]
U01:%x[-1,word]
U02:%x[0,word]
U03:%x[1,word]
U04:%x[2,word]
U05:%x[-1,word]/%x[0,word]
U06:%x[0,word]/%x[1,word]

U10:%x[-2,pos]
U11:%x[-1,pos]
U12:%x[0,pos]
U13:%x[1,pos]
U14:%x[2,pos]
U15:%x[-2,pos]/%x[-1,pos]
U16:%x[-1,pos]/%x[0,pos]
U17:%x[0,pos]/%x[1,pos]
U18:%x[1,pos]/%x[2,pos]

U20:%x[-2,pos]/%x[-1,pos]/%x[0,pos]
U21:%x[-1,pos]/%x[0,pos]/%x[1,pos]
U22:%x[0,pos]/%x[1,pos]/%x[2,pos]

B
"""

# "the last one, two and three letters; whether the first letter is lower case, upper case or alphanumeric; capitalised
# and contains a dot; all letters capitalised; contains a hyphen" (Altun section 4.2, in our words)
_ALTUN_SPELLING = """
suffix(word, 1, 2, 3){place} + initial(word){place} + caps_dot(word){place} + all_caps(word){place}
+ has_hyphen(word){place}
"""

# Azuma Table 1; what is marked with a dagger there has a window of five tokens. "Node is source" and "tail node is
# source" are one attribute on the first token, those of the sink one on the last.
_AZUMA = """
word[0] + suffix(word, 1, 2, 3)[0] + is_first(word)[0] + is_last(word)[0]
+ is_capitalized(word)[-2:2] + all_caps(word)[-2:2] + has_digit(word)[-2:2]
"""

_NER = """
word[-2:2] + lower(word)[-1:1] + (lower(word)[-1] & lower(word)[0]) + (lower(word)[0] & lower(word)[1])
+ prefix(word, 1, 2, 3, 4)[0] + suffix(word, 1, 2, 3, 4)[0] + suffix(word, 3)[-1] + suffix(word, 3)[1]
+ shape(word)[-1:1] + short_shape(word)[-2:2]
+ (short_shape(word)[-1] & short_shape(word)[0]) + (short_shape(word)[0] & short_shape(word)[1])
+ (short_shape(word)[-1] & short_shape(word)[0] & short_shape(word)[1])
+ is_capitalized(word)[-1:1] + all_caps(word)[-1:1]
+ has_digit(word)[0] + has_hyphen(word)[0] + has_dot(word)[0] + is_first(word)[0]
"""

_POS = """
word[-2:2] + lower(word)[-1:1] + (lower(word)[-1] & lower(word)[0]) + (lower(word)[0] & lower(word)[1])
+ prefix(word, 1, 2, 3)[0] + suffix(word, 1, 2, 3, 4)[0] + suffix(word, 2, 3)[-1] + suffix(word, 2, 3)[1]
+ short_shape(word)[-1:1] + is_capitalized(word)[0] + all_caps(word)[0]
+ has_digit(word)[0] + has_hyphen(word)[0] + has_dot(word)[0] + is_first(word)[0]
"""

_MORPH = """
word[-1:1] + lower(word)[-1:1] + prefix(word, 1, 2, 3)[0] + suffix(word, 1, 2, 3, 4, 5, 6)[0]
+ suffix(word, 2, 3)[-2:-1] + suffix(word, 2, 3)[1:2]
+ (suffix(word, 3)[-1] & suffix(word, 3)[0]) + (suffix(word, 3)[0] & suffix(word, 3)[1])
+ (lower(word)[-1] & suffix(word, 3)[0]) + (suffix(word, 3)[0] & lower(word)[1])
+ short_shape(word)[0] + length(word)[0] + is_first(word)[0]
"""

# a word of a lattice, as a lexicon offers it: what it is, and what it takes from its neighbours
_LEXICON = "word[0] + length(word)[0] + prefix(word, 1, 2, 3)[0] + suffix(word, 1, 2, 3)[0] + short_shape(word)[0]"
_LEXICON_MORE = (
    ("known", "known[0] + (known[0] & length(word)[0]) + (known[0] & suffix(word, 2)[0])"),
    ("before", "(before[0] & prefix(word, 1)[0]) + (before[0] & prefix(word, 2)[0])"),
    ("after", "(suffix(word, 1)[0] & after[0]) + (suffix(word, 2)[0] & after[0])"),
)

PRESETS: dict[str, Preset] = {
    "altun-s1": Preset("Altun et al. 2003, S1: the word", "word[0]"),
    "altun-s2": Preset(
        "Altun et al. 2003, S2: the word and its spelling", "word[0] + " + _ALTUN_SPELLING.format(place="[0]")
    ),
    "altun-s3": Preset(
        "Altun et al. 2003, S3: words and spellings in a window of three",
        "word[-1:1] + " + _ALTUN_SPELLING.format(place="[-1:1]"),
    ),
    "azuma-pos": Preset(
        "Azuma & Matsumoto 2011, Table 1, for parts of speech: words, suffixes, spelling, labels seen with a word",
        _AZUMA + "+ tags(word)[-2:2]",
    ),
    "azuma-chunk": Preset(
        "Azuma & Matsumoto 2011, Table 1, for chunks: the same with parts of speech, also on transitions",
        _AZUMA + "+ tags(word, pos)[-2:2] + pos[0] + transitions(pos[-1] & pos[0])",
    ),
    "chunking": Preset(
        "the unigram patterns of CRF++'s chunking example: words and parts of speech in a window of five", _CHUNKING
    ),
    "ner": Preset(
        "names: words, affixes and shapes in a window of five, with parts of speech where there are any; tried on "
        "Spanish CoNLL-2002",
        _NER,
        (("pos", "pos[-2:2] + (pos[-1] & pos[0]) + (pos[0] & pos[1]) + (pos[-1] & pos[0] & pos[1])"),),
    ),
    "pos": Preset("parts of speech from words: affixes, shapes, neighbours; tried on UD English", _POS),
    "lexicon": Preset(
        "words of a lexicon's lattices: the word, whether it is known, affixes and edges", _LEXICON, _LEXICON_MORE
    ),
    "texts": Preset(
        "whole texts: their words, pairs of words, every three and four letters, and how long they are; tried on "
        "comments on YouTube",
        "word_ngrams(text, 1, 2)[0] + ngrams(text, 3, 4)[0] + word_count(text)[0]",
    ),
    "morph": Preset("parts of speech with inflection: long suffixes, also of the neighbours", _MORPH),
}
