"""What every model promises, of the first rungs of the ladder and of a CRF with an encoder: many threads may use one,
results depend on nothing but the data and the settings, and a little text is labelled without a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import trellis
from trellis import HMM, LocalClassifier, NeuralCRF, SequentialClassifier

FEATURES = "word[-1:1] + pos[0]"


def saved(model, path):
    model.save(path)
    return path.read_bytes()


MODELS = {
    "hmm": lambda: HMM(target="pos"),
    "hmm of order 2": lambda: HMM(target="pos", order=2),
    "greedy": lambda: SequentialClassifier(target="chunk", features=FEATURES, beam=1),
    "by beam": lambda: SequentialClassifier(target="chunk", features=FEATURES, order=2, beam=3),
    "exact": lambda: SequentialClassifier(target="chunk", features=FEATURES, order=2),
    "local": lambda: LocalClassifier(target="chunk", features=FEATURES),
    "neural": lambda: NeuralCRF("chunk", FEATURES, embedding=8, letters=4, filters=4, hidden=6, epochs=2),
}


@pytest.fixture(scope="module", params=MODELS)
def file(request, corpus, tmp_path_factory):
    """Of a trained model."""
    path = tmp_path_factory.mktemp("ladder") / "m"
    MODELS[request.param]().fit(corpus).save(path)
    return path


class TestManyThreads:
    @pytest.mark.parametrize("way", ["plain", "compiled"])
    def test_predictions_at_a_time_equal_those_one_after_the_other(self, file, make_corpus, computing, way):
        """Of a model that was just loaded: what it prepares on its first answer, it prepares for many at once."""
        texts = [make_corpus(4, seed=seed) for seed in range(16)]

        def answer(model, text):
            return model.predict(text), [rows.tolist() for rows in model.predict_marginals(text)]

        with computing(way):
            one = trellis.load(file).set_params(threads=1)
            expected = [answer(one, text) for text in texts]
            shared = trellis.load(file).set_params(threads=1)
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(lambda text: answer(shared, text), texts))
        assert found == expected

    def test_threads_of_its_own_change_nothing(self, file, make_corpus):
        text = make_corpus(400, seed=9)
        one, two = (trellis.load(file).set_params(threads=threads) for threads in (1, 2))
        assert one.predict(text) == two.predict(text)
        pairs = zip(one.predict_marginals(text), two.predict_marginals(text), strict=True)
        assert all(np.array_equal(a, b) for a, b in pairs)

    def test_predictions_leave_the_model_as_it_was(self, file, heldout, tmp_path):
        model = trellis.load(file)
        model.predict(heldout)
        model.predict_marginals(heldout)
        assert saved(model, tmp_path / "again") == file.read_bytes()


class TestSameBytes:
    def test_of_an_hmm_with_raw_text_for_any_number_of_threads(self, make_corpus, tmp_path, monkeypatch):
        monkeypatch.setattr("trellis.models.hidden_learning._BATCH", 50)  # so that threads have something to share
        few, raw = make_corpus(10, seed=1), make_corpus(100, seed=2)
        for order in (1, 2):
            files = {
                saved(HMM(target="pos", order=order, threads=n).fit(few, raw=raw), tmp_path / "m") for n in (1, 2, None)
            }
            assert len(files) == 1

    def test_of_a_classifier_that_explores_for_any_number_of_threads(self, make_corpus, tmp_path, monkeypatch):
        monkeypatch.setattr("trellis.objective.cutting.SHARD", 100)
        corpus, files = make_corpus(100, seed=3), set()
        for threads in (1, 2, None):
            model = SequentialClassifier(target="chunk", features=FEATURES, explore=1, threads=threads)
            files.add(saved(model.fit(corpus), tmp_path / "m"))
        assert len(files) == 1

    def test_hash_seeds_change_nothing(self, make_corpus, tmp_path):
        for name, count, seed in (("few", 10, 1), ("raw", 60, 2)):
            (tmp_path / name).write_bytes(trellis.write_conll(make_corpus(count, seed)))
        script = (
            "import sys, trellis\n"
            "few, raw = (trellis.read_conll(one, columns=['word', 'pos', 'chunk']) for one in sys.argv[1:3])\n"
            "trellis.HMM(target='pos').fit(few, raw=raw).save(sys.argv[3])\n"
            f"own = trellis.SequentialClassifier(target='chunk', features={FEATURES!r}, explore=1)\n"
            "own.fit(raw).save(sys.argv[4])"
        )
        found = set()
        for seed in ("1", "2"):
            out = [tmp_path / f"{kind}{seed}" for kind in ("hmm", "own")]
            environment = {**os.environ, "PYTHONHASHSEED": seed}
            command = [sys.executable, "-c", script, tmp_path / "few", tmp_path / "raw", *out]
            subprocess.run(command, check=True, env=environment)
            found.add(tuple(path.read_bytes() for path in out))
        few, raw = (trellis.read_conll(tmp_path / one, columns=["word", "pos", "chunk"]) for one in ("few", "raw"))
        hmm = HMM(target="pos").fit(few, raw=raw)
        own = SequentialClassifier(target="chunk", features=FEATURES, explore=1).fit(raw)
        assert found == {(saved(hmm, tmp_path / "h"), saved(own, tmp_path / "o"))}


# lattices of triples have compiled loops alone, those of a CRF, too
@pytest.mark.parametrize("file", [name for name in MODELS if name != "hmm of order 2"], indirect=True)
def test_a_little_text_is_labelled_without_a_compiler(file):
    script = (
        "import sys, trellis; from trellis.corpus import parse_conll\n"
        "model = trellis.load(sys.argv[1]); text = parse_conll(b'the DT\\nzebra NN\\nsees VB\\n', ['word', 'pos'])\n"
        "model.predict(text); before = {'numba', 'scipy'} & set(sys.modules)\n"
        "model.predict_marginals(text); print(sorted(before), sorted({'numba', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script, file], capture_output=True, text=True, check=True)
    assert done.stdout == "[] []\n"
