"""Where are the words? A lexicon offers all that a text without spaces may contain; a CRF over its lattice chooses.

    python examples/unspaced_text.py

A text becomes a directed acyclic graph: a node for every word of the lexicon that stands somewhere in it, and for every
short span that may be an unknown word; an arc where one can follow the other. Training is on whole graphs: the
probability of the right path is that among all paths. Japanese and Chinese are cut into words this way; here it is the
English of the corpus that ships with Trellis, without its spaces.
"""

from __future__ import annotations

import trellis as tr

train, test = tr.sample_corpus("train"), tr.sample_corpus("test")

# words seen once are left out, so that training meets unknown words as tagging will
lexicon = tr.Lexicon.learn(train, unknown=10)
print(lexicon)

texts, segments = tr.unspaced(train)  # ["Thebig...", ...] and [[(0, 3, "word"), ...], ...]
lattices = lexicon.lattices(texts, including=segments)
print(f"{len(lattices)} texts: {len(lattices.start):,} possible words, {len(lattices.shape.source):,} pairs of them")

model = tr.LatticeCRF(features="lexicon", l2=0.3, tol=1e-3).fit(lattices, segments)

texts, segments = tr.unspaced(test)
lattices = lexicon.lattices(texts)
print(f"F1 of words in new texts: {100 * model.score(lattices, segments):.1f}")

for text, words in zip(texts[:3], model.predict_spans(lattices.part(0, 3)), strict=True):
    print(text)
    print("  ", " ".join(f"{text[w.start : w.end]}" + ("" if w.probability > 0.5 else "?") for w in words))
for path in model.predict_kbest(lattices.part(0, 1), k=3)[0]:
    print(f"{path.log_probability:8.3f}", " ".join(texts[0][word.start : word.end] for word in path.segments))
