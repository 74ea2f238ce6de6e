"""Template files on real text: attribute for attribute what the slow way makes of them."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from template_reference import attributes_of, transition_attributes_of

from trellis.corpus import parse_conll
from trellis.features import PRESETS, TemplateFeatures, templates_for
from trellis.features.notation import parse_templates

DATA = Path(os.environ.get("TRELLIS_DATA") or Path(__file__).parents[3] / "shared" / "data") / "conll2000"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="CoNLL-2000 is not here; set TRELLIS_DATA to a folder that holds conll2000/"
)

COLUMNS = ["word", "pos", "chunk"]
LEARNT, NEW = (1500, 300) if os.environ.get("NUMBA_DISABLE_JIT", "0") == "0" else (60, 20)

WAPITI = r"""
# words, as they are and in lower case
*
U:w-2 %x[-2,0]
U:w-1 %X[-1,0]
u:w 0 %x[ 0,0]
u:w+1 %X[ 1,0]
*:w+w %X[-1,0]/%X[ 0,0]

u:near %x[-1,1]         # a bag of three tags
u:near %x[ 0,1]
u:near %x[ 1,1]
b:tags %x[-1,1]/%x[0,1]

# endings and beginnings
u:pre3 %m[ 0,0,"^.?.?.?"]
u:suf3 %m[ 0,0,".?.?.?$"]
u:suf3 lower %M[ 1,0,".?.?.?$"]
u:part %m[ 0,0,"\d*\p\d*$"]

# kinds of words
u:caps %t[ 0,0,"^\u"] %t[-1,0,"^\u"] %t[1,0,"^\u"]
u:all caps %t[0,0,"^\u*$"]
u:number %t[0,0,"^\d\D?\d*$"]/%T[0,0,"\p"]
*:inner %t[0,0,"\a-\a"]
u:quote %t[0,0,"[`'\"]"] %m[0,0,"\P\p"]

# the sentence as a whole
u:ends %x[@1,1]/%x[@-1,0]
u:far %x[-5,1]/%x[6,1]
"""


@pytest.fixture(scope="module")
def corpora():
    sentences = (DATA / "train.txt").read_bytes().split(b"\n\n")[: LEARNT + NEW]
    both = parse_conll(b"\n\n".join(sentences) + b"\n", COLUMNS)
    return both.slice(0, LEARNT), both.slice(LEARNT, LEARNT + NEW)


def tokens_of(packed, names):
    found = [names[i] if i >= 0 else None for i in packed.ids.tolist()]
    return [found[a:b] for a, b in pairwise(packed.indptr.tolist())]


def strings(corpus):
    return {name: corpus.sentences(name) for name in COLUMNS}


def assert_as_described(templates, text, corpora, wapiti=False):
    train, new = corpora
    features, packed = TemplateFeatures.learn(train.compact(), templates)
    other = features.transform(new)
    for names, found, again, expected in (
        (features.names(), packed, other, attributes_of),
        (features.arc_names(), packed.arcs, other.arcs, transition_attributes_of),
    ):
        described = expected(strings(train), text, wapiti)
        if found is None:
            assert not any(described)
            continue
        assert tokens_of(found, names) == described
        seen = set(names)
        assert seen == {name for token in described for name in token}
        described = expected(strings(new), text, wapiti)
        assert tokens_of(again, names) == [[name if name in seen else None for name in token] for token in described]
    return features


def test_the_chunking_example_of_crfpp(corpora):
    text = PRESETS["chunking"].text
    features = assert_as_described(templates_for("chunking", COLUMNS, "chunk"), text, corpora)
    assert len(features.templates) == 19
    assert features.arc_attributes == 0


def test_a_pattern_file_of_wapiti(corpora):
    templates = parse_templates(WAPITI, COLUMNS, "chunk")
    features = assert_as_described(templates, WAPITI, corpora, wapiti=True)
    assert {"u:suf3 lower x+1", "u:near _x-1", "u:far _x-4/_x+#"} <= set(features.names())
    assert features.arc_attributes > 0
