"""Makes the golden models of the present format: `python tests/store/make_golden.py`.

A golden model is made once for each version of the format, when it is new, and never again: it stands for the files
that users have. So those that are there are left alone; delete one by hand only while its format has not been released.
Beside each model is a JSON file with an input and what the model answered on the day it was made.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import numpy as np

from trellis import (
    CRF,
    HMM,
    Arc,
    Cascade,
    KernelPerceptron,
    Lattice,
    LatticeCRF,
    Lexicon,
    LocalClassifier,
    NeuralCRF,
    Node,
    SemiCRF,
    SequentialClassifier,
    Stage,
    TextClassifier,
    load,
)
from trellis.corpus import parse_conll
from trellis.store.file import FORMAT
from trellis.weak.models import Generative, HMMAggregator, LabelModel
from trellis.weak.models import load as load_label_model
from trellis.weak.space import Space
from trellis.weak.votes import Votes

GOLDEN = Path(__file__).parent / "golden"
TRAINING = """Anna NNP B-PER
saw VBD O
the DT O
New NNP B-LOC
York NNP I-LOC
Ballet NNP O
. . O

über IN O
Lima NNP B-LOC
flew VBD O
Dr. NNP B-PER
Ngo NNP I-PER

in IN O
2019 CD O
Anna NNP B-PER
left VBD O
New NNP B-LOC
York NNP I-LOC

Lima NNP B-LOC
is VBZ O
over IN O
the DT O
sea NN O
"""
NEW = "Anna NNP\nflew VBD\nover IN\nNew NNP\nLima NNP\n. .\n\nüber FW\n\n"
UNKNOWN = "Rosa NNP\nflew VBD\nnear IN\nNew NNP\nYork NNP\n1984 CD\n\nThe DT\nbee NN\nsang VBD\n! .\n\n"
CLUSTERS = "0010\tAnna\t3\n0011\tNgo\t1\n01\tLima\t2\n110\tflew\t4\n"
RAW = "Anna\nflew\nover\nKyoto\n.\n\nthe\nBallet\nleft\nLima\n\n"
VECTORS = "3 4\nanna 1 0.5 0 -1\nKyoto 0 0.25 1 1\nlima -1 2 0.5 0\n"
PLACES = "place\tNew York\nplace\tLima\nsea\n"

TEMPLATES = r"""
# conjunctions, names in common, transitions, functions, too many parts for a number
U00:%x[0,word]
U01:%x[-1,word]/%x[0,pos]
U:%x[-1,word]
U:%x[1,word]
U:%lower[0,word]
U02:%suffix[0,word,2]/%short_shape[1,word]
U03:%regex[0,word,"^[A-Z].*\."]
U04:%tags[0,word]
U05:%cluster[0,word,"paths"]/%x[0,pos]
U06:%cluster[0,word,"paths",2]
U07:%gazetteer[0,word,"places.txt"]
U08:%ngrams[0,word,3]
U09:{wide}
B01:%x[0,pos]
B02:%x[-1,pos]/%x[0,pos]
"""
PATTERNS = r"""
*
*:pos %X[ 0,1]
u:near %x[-5,0]          # what is far away has one name
u:near %x[ 0,0]
u:ends %x[@1,1]/%x[@-1,1]
u:caps %t[ 0,0,"^\u\l*$"]/%T[-1,0,"\p$"]
u:suf  %M[ 0,0,".?.?$"]
"""
LATTICES = [
    [
        [[0, 1, "X", ["a"]], [0, 2, "Y", {"ab": 1.0, "long": 0.5}], [1, 2, "X", ["b"]], [1, 2, "Y", ["b", "ü"]]],
        [[0, 2, ["near"]], [0, 3, {"w": 2.0}]],
    ],
    [[[0, 1, "X", ["a"]], [0, 2, "Y", ["ab"]], [1, 2, "X", ["b"]]], None],
]
RECORDS = [
    {"text": "Check out MY channel!", "source": "web", "likes": 2, "label": "spam"},
    {"text": "über song, don't stop", "source": None, "likes": 0.5, "label": "ham"},
    {"text": "", "likes": 7, "label": "ham"},
    {"text": "check this: www.x.com", "source": "app", "likes": -1, "label": None},
    {"text": "my page", "source": "web", "likes": 3, "label": "spam"},
]
LEXICON = {"words": {"a": "X", "bc": ["X", "Y"], "äbc": "Y"}, "texts": ["abc", "äbc"]}
# votes of f, of g, which says nearly the same, and of h
SEGMENTS = {
    "types": ["PER", "LOC"],
    "coarse": {"WHO": ["PER"], "ENT": ["PER", "LOC"]},
    "votes": [
        ["O O O", "B-PER B-PER B-ENT", "I-PER I-PER O", "B-LOC B-LOC O", "O O _"],
        ["B-LOC B-LOC B-LOC", "I-LOC I-LOC I-LOC", "_ _ O", "O _ O"],
        ["B-WHO B-WHO B-PER", "O O O", "B-LOC B-LOC I-ENT", "B-PER B-PER B-PER"],
        ["_ _ _", "O O B-LOC"],
    ],
}
ITEMS = {
    "labels": ["ham", "spam", "junk"],
    "coarse": {"unwanted": ["spam", "junk"], "mail": ["ham", "spam"]},
    "votes": [["ham ham mail"], ["spam spam unwanted"], ["_ _ ham"], ["junk junk junk"], ["spam ham spam"], ["_ _ _"]],
}
EXPRESSION = "word[-1:1] + suffix(word, 1, 2)[0] + (pos[-1] & pos[0]) + bag(pos[-2:2]) + transitions(pos[0])"


def models():
    """name -> (trained model, input)."""
    wide = "/".join(f"%x[{k % 3 - 1},word]" for k in range(30))
    corpus, new = parse_conll(TRAINING.encode(), ["word", "pos", "ner"]), NEW
    settings = {
        "templates": {"features": TEMPLATES.replace("{wide}", wide), "l2": 0.5},
        "wapiti": {"features": PATTERNS, "l2": 0.7, "tag_dictionary": 2},
        "expression": {"features": EXPRESSION, "min_count": 2},
        "hashed": {"features": EXPRESSION, "hash_size": 97, "all_transitions": True},
    }
    words = "word[-1:1] + suffix(word, 1, 2)[0] + pos[0]"
    if FORMAT >= 3:
        settings |= {
            "order-0": {"features": words, "order": 0},
            "order-3": {"features": words, "order": 3, "tag_dictionary": 2},
            "pruned": {"features": words, "order": 2, "prune": 0.05},
        }
    for name, more in settings.items():
        yield name, CRF(target="ner", **more).fit(corpus), new
    if FORMAT >= 3:
        spans = "surface + shape + words + length + gazetteer(places.txt)"
        yield "semi", SemiCRF("ner", words, spans, longest={"PER": 3}).fit(corpus), new
        yield "lattice", LatticeCRF(l2=0.2, all_nodes=True).fit(lattices_of(LATTICES), [[0, 2], [1]]), LATTICES
        lexicon = LatticeCRF(arcs="word + known").fit(lattices_of(LEXICON), [[(0, 1, "X"), (1, 3, "Y")], [(0, 3, "Y")]])
        yield "lattice-lexicon", lexicon, LEXICON
        pos = Stage("pos", "word[0] + suffix(word, 1)[0]")
        reading = (
            "word[0] + prefix(pos, 1)[-1:0] + (word[0] & pos[0]) + transitions(pos[-1] & pos[0]) + transitions(word[0])"
        )
        yield "cascade", Cascade([Stage("ner", reading, reads=["pos"]), pos]).fit(corpus), new
        segments = Stage("ner", "word[0] + pos[-1:1]", reads=["pos"], model="semi-crf", segments="length")
        yield "cascade-segments", Cascade([pos, segments], wire="kbest", k=3).fit(corpus), new
        yield "hmm", HMM("pos", smoothing=0.5).fit(corpus, raw=parse_conll(RAW.encode(), ["word"])), UNKNOWN
        yield "hmm-order-2", HMM("ner", order=2, suffix=2, rare=1).fit(corpus), UNKNOWN
        yield "hmm-states", HMM("state", states=3, seed=1).fit(parse_conll(RAW.encode(), ["word"])), RAW
        yield "sequential", SequentialClassifier("ner", words, order=2, beam=3, explore=1).fit(corpus), new
        arcs = "word[0] + transitions(pos[0])"
        yield "sequential-arcs", SequentialClassifier("ner", arcs, encoding="iob2").fit(corpus), new
        yield "local", LocalClassifier("ner", words, tag_dictionary=2).fit(corpus), new
        fields = "word_ngrams(text, 1, 2)[0] + ngrams(text, 3)[0] + word_count(text)[0] + source[0] + number(likes)[0]"
        yield "texts", TextClassifier("label", fields, l2=0.3).fit(RECORDS), RECORDS
        yield "texts-matrix", TextClassifier(l2=0.2).fit(np.eye(3)[:, :2], ["a", "b", "b"]), [[1.0, 0.5], [0.0, -2.0]]
        sizes = {"embedding": 4, "letters": 2, "filters": 3, "hidden": 3, "epochs": 2}
        yield "neural", NeuralCRF("ner", words, vectors="vectors.txt", layers=2, **sizes).fit(corpus), UNKNOWN
        alone = NeuralCRF("ner", "", inputs="pos", order=2, encoding="iob2", **sizes).fit(corpus)
        yield "neural-alone", alone, UNKNOWN
        reading = Stage("ner", "word[0] + pos[-1:1]", reads=["pos"], model="neural-crf", **sizes)
        yield "cascade-neural", Cascade([pos, reading], wire="joint").fit(corpus), new
        yield "label-hmm", HMMAggregator(max_iter=5, tol=None).fit(votes_of(SEGMENTS)), SEGMENTS
        groups = [["h"], ["g", "f"]]
        yield "label-generative", Generative(groups, max_iter=9, tol=None).fit(votes_of(ITEMS)), ITEMS
    X = [[{"w": "a", "x": 1.5, "q": True}, {"w": "b", "x": -0.5}], [["w:c"], ["w:a", "ü"]], [{"w": "b", "x": 2}]]
    lists = CRF(l2=0.5).fit(X, [["B", "I"], ["O", "B"], ["I"]])
    asked = [[{"w": "a", "x": 1.5}, {"w": "b"}], [["w:a", "q"], ["w:z"]], [{"w": "ü", "x": -2}], []]
    yield "lists", lists, asked
    yield "kernel", KernelPerceptron("ner", EXPRESSION.rpartition(" + ")[0]).fit(corpus), new
    values = KernelPerceptron(degree=3, offset=0.5, cosine=True).fit(X, [["B", "I"], ["O", "B"], ["I"]])
    yield "kernel-lists", values, asked


def lattices_of(data):
    """From JSON: nodes and arcs, or words and texts."""
    if isinstance(data, dict):
        return Lexicon(data["words"], unknown=2).lattices(data["texts"])
    return [Lattice([Node(*node) for node in nodes], arcs and [Arc(*arc) for arc in arcs]) for nodes, arcs in data]


def votes_of(data):
    """From JSON: labels or types, and the votes of sentences."""
    coarse = data["coarse"]
    space = Space.of_types(data["types"], coarse) if "types" in data else Space.of_labels(data["labels"], coarse)
    rows = [[space.index.get(name, -1) for name in token.split()] for sentence in data["votes"] for token in sentence]
    offsets = np.cumsum([0, *map(len, data["votes"])])
    return Votes(np.array(rows, np.int32), ("f", "g", "h"), space, offsets)


def loaded(path):
    """A golden model."""
    return load_label_model(path) if "-label-" in path.name else load(path)


def answers(model, data):
    """What a model says, as JSON."""
    if isinstance(model, LabelModel):
        votes = votes_of(data)
        rows = [np.round(r, 9).tolist() for r in model.predict_marginals(votes)]
        objective = model.climb_.objectives[-1]
        return {"input": data, "labels": model.predict(votes), "marginals": rows, "objective": objective}
    if isinstance(model, TextClassifier):
        items = data if isinstance(data[0], dict) else np.array(data)
        rows = np.round(model.predict_proba(items), 9).tolist()
        return {"input": data, "labels": model.predict(items), "marginals": [rows], "objective": model.objective_}
    if isinstance(model, LatticeCRF):
        lattices = lattices_of(data)
        rows = [np.round(row, 9)[:, None].tolist() for row in model.predict_marginals(lattices)]
        labels = [[list(segment) for segment in path] for path in model.predict(lattices)]
        return {"input": data, "labels": labels, "marginals": rows, "objective": model.objective_}
    if isinstance(model, Cascade):
        read = parse_conll(data.encode(), model.columns_, optional=model.targets_)
        rows = [np.round(r, 9).tolist() for found in model.predict_marginals(read).values() for r in found]
        return {"input": data, "labels": model.predict(read), "marginals": rows, "objective": model.objective_}
    read = parse_conll(data.encode(), model.columns_, optional=[model.target]) if isinstance(data, str) else data
    return {
        "input": data,
        "labels": model.predict(read),
        "marginals": marginals(model, read),
        "objective": model.objective_,
    }


def marginals(model, read):
    """None for models that have no probabilities."""
    if isinstance(model, KernelPerceptron):
        return []
    return [np.round(rows, 9).tolist() for rows in model.predict_marginals(read)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("paths").write_text(CLUSTERS, encoding="utf-8")
        Path("places.txt").write_text(PLACES, encoding="utf-8")
        Path("vectors.txt").write_text(VECTORS, encoding="utf-8")
        for name, model, data in models():
            path = GOLDEN / f"format-{FORMAT}-{name}.trellis"
            if path.exists():
                print(f"{path.name} is there already")
                continue
            model.save(path)
            text = json.dumps(answers(model, data), ensure_ascii=False, indent=1)
            path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
            converged = model.climb_.converged if isinstance(model, LabelModel) else model.converged_
            print(f"{path.name}: {path.stat().st_size:,} bytes, converged: {converged}")


if __name__ == "__main__":
    main()
