"""The rooms lie in layers: a room imports from lower ones only (DESIGN section 2)."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import trellis

PACKAGE = Path(trellis.__file__).parent

# helpers without a room: each may import those before it, and every room may import them all
GROUND = ["errors", "files", "lazy", "memory", "rows", "jit_parts", "jit", "lanes_compiled", "lanes"]

LAYERS = [
    {"labels"},
    {"corpus", "lattice"},
    {"features", "scoring", "metrics"},
    {"losses"},
    {"objective", "dual", "markov"},
    {"neural"},
    {"engine", "optim"},
    {"training", "store"},
    {"models"},
    {"cascade", "weak", "fewlabels"},
    {"report", "compat"},
    {"studies", "serve"},
    {"cli"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}

# the package itself and `python -m trellis` are doors to every room
DOORS = {"__init__", "__main__"}

MODULES = sorted(PACKAGE.glob("**/*.py"))


def imports_of(path):
    """Full names of all modules imported anywhere in a file, also inside functions and for type checking."""
    package = ["trellis", *path.relative_to(PACKAGE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = [] if not node.level else package[: len(package) + 1 - node.level]
            module = ".".join([*base, *filter(None, [node.module])])
            found |= {module} if module != "trellis" else set(map(home_of, [alias.name for alias in node.names]))
    return found


def home_of(name):
    """What `from trellis import name` imports: a room, or what the package's front door fetches from one."""
    return trellis._HOMES.get(name, "trellis" if name.startswith("__") else f"trellis.{name}")


def room_of(name):
    """`trellis.corpus.column` is in the room `corpus`; None for what is not ours."""
    parts = name.split(".")
    return parts[1] if parts[0] == "trellis" and len(parts) > 1 else None


def may_import(room, other):
    if room in GROUND:
        return other in GROUND[: GROUND.index(room)]
    return other in GROUND or other == room or LEVEL[other] < LEVEL[room]


def named(path):
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_imports_from_lower_layers_only(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if room in DOORS:
        return
    assert room in LEVEL or room in GROUND, f"'{room}' has no layer yet: give it one here and in DESIGN"
    wrong = sorted(n for n in imports_of(path) if (other := room_of(n)) is not None and not may_import(room, other))
    assert wrong == []


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("lattice/kernels/*.py")), ids=named)
def test_the_kernels_of_the_lattices_import_nothing_but_numpy_and_numba(path):
    allowed = (
        "numpy",
        "numba",
        "trellis.jit",
        "trellis.rows",
        "trellis.lanes",
        "trellis.lattice.kernels",
        "typing",
        "__future__",
    )
    wrong = sorted(n for n in imports_of(path) if not any(n == a or n.startswith(f"{a}.") for a in allowed))
    assert wrong == []


def test_imports_inside_functions_and_relative_ones_are_seen():
    inside = PACKAGE / "models" / "chain_tagger.py"
    assert "trellis.objective" in imports_of(inside)
    assert "trellis.corpus" in imports_of(inside)
    assert not may_import("corpus", "features")
    assert not may_import("features", "scoring")
    assert may_import("features", "corpus")


@pytest.mark.parametrize("module", ["trellis", "trellis.models", "trellis.corpus"])
def test_importing_is_quick_because_heavy_packages_wait_until_they_are_needed(module):
    script = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numba", "llvmlite", "scipy", "rich", "typer", "sklearn", "matplotlib", "concurrent.futures.process"}
    assert heavy.isdisjoint(loaded)


def test_tagging_a_little_text_needs_no_compiler(small_model, tmp_path):
    small_model.save(tmp_path / "m")
    script = (
        "import sys, trellis; from trellis.corpus import parse_conll\n"
        "model = trellis.load(sys.argv[1]); data = parse_conll(b'a\\nb\\n', ['word'])\n"
        "model.predict(data); model.predict_marginals(data); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "m"], capture_output=True, text=True, check=True)
    assert {"numba", "scipy"}.isdisjoint(done.stdout.split())


@pytest.mark.parametrize("package", [path.parent for path in MODULES if path.name == "__init__.py"], ids=named)
def test_what_a_package_imports_when_it_is_used_is_not_hidden_by_a_module_of_that_name(package):
    module = import_module(".".join(["trellis", *package.relative_to(PACKAGE).parts]))
    files = {path.name.removesuffix(".py") for path in package.iterdir()}
    assert files & set(vars(module).get("_HOMES", ())) == set()


def test_every_public_name_can_be_imported():
    assert set(trellis.__all__) <= set(dir(trellis))
    for name in trellis.__all__:
        assert getattr(trellis, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        trellis.nonsense  # noqa: B018
