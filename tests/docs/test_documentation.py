"""README and docs run: Python blocks are executed, console blocks are typed in."""

from __future__ import annotations

import inspect
import os
import re
import runpy
import stat
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import click
import pytest

from trellis.cli.app import app
from trellis.corpus import Corpus, sample_corpus, write_conll
from trellis.models import MODEL_TYPES
from trellis.optim import OPTIMIZERS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_HERE = ("make ", "trellis bench", "trellis reproduce", "trellis data get conll", "pip ")  # other tests run these
SHOWING = ["docs/label-bias.md", "docs/recipes.md"]  # all that their blocks print stands in comments at the margin
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def blocks(page, language):
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages speak of, and `trellis` on the path."""
    monkeypatch.chdir(tmp_path)
    for name, part, columns in (
        ("train.txt", "train", ["word", "pos", "chunk"]),
        ("test.txt", "test", ["word", "pos", "chunk"]),
        ("dev.txt", "test", ["word", "pos", "chunk"]),
        ("new.txt", "test", ["word", "pos"]),
    ):
        corpus = sample_corpus(part)
        (tmp_path / name).write_bytes(write_conll(Corpus({c: corpus[c] for c in columns}, corpus.offsets)))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "broken.txt").write_text("Its PRP$ B-NP\nshares NNS I-NP\nfell VBD\n")
    command = tmp_path / "bin" / "trellis"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trellis "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_blocks_run(page, folder):
    if page.relative_to(ROOT).as_posix() in SHOWING:
        return  # see below
    namespace = {}
    for text in blocks(page, "python"):
        exec(compile(text, str(page), "exec"), namespace)


def names_of_commands(group, path=("trellis",)):
    """(`trellis weak fit`, its last word) of each."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from names_of_commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), name


def test_every_command_has_its_place():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert not [path for path, name in names_of_commands(app) if path not in page and f"`{name}`" not in page]


@pytest.mark.parametrize("name", SHOWING)
def test_comments_at_the_margin_are_what_is_printed(name, folder, capsys):
    namespace = {}
    for text in blocks(ROOT / name, "python"):
        exec(compile(text, name, "exec"), namespace)
        shown = [line[2:] for line in text.splitlines() if line.startswith("# ")]
        assert capsys.readouterr().out.splitlines() == shown


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example):
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_console_blocks_run_and_print_what_the_page_shows(page, folder):
    for text in blocks(page, "toml"):
        (folder / "cascade.toml").write_text(text)
    for text in blocks(page, "console"):
        for command, shown in commands(text):
            if command.startswith(NOT_HERE):
                continue
            done = subprocess.run(command, shell=True, capture_output=True, text=True)
            if shown.startswith("trellis: "):
                assert done.returncode != 0
                assert done.stderr == shown
            else:
                assert done.returncode == 0, f"{command}: {done.stderr}"
                assert shown in ("", done.stdout)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_option_of_every_optimizer_is_in_the_table():
    text = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    for name, kind in OPTIMIZERS.items():
        there = re.search(rf"^\| `{name}` \|.*\|(.*)\|$", text, re.MULTILINE)[1]
        settings = ("tol", "seed")  # of the CRF
        has = [f"`{each.name}={_written(each.default)}`" for each in fields(kind) if each.name not in settings]
        assert there.strip().split(", ") == has, name
        for each in has:
            assert re.search(rf"^\| .*{each.partition('=')[0]}`.* \|", text, re.MULTILINE), each


def _written(default):
    return f'"{default}"' if isinstance(default, str) else repr(default)


def commands(block):
    """(command, what is shown below it) for every `$ ` line, which may go on after a backslash."""
    out = []
    for line in block.replace("\\\n", "").splitlines(keepends=True):
        if line.startswith("$ "):
            out.append([line[2:].rstrip("\n"), ""])
        elif out:
            out[-1][1] += line
    return out


def test_settings_of_the_ladder_are_in_its_table():
    text = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")
    for name, kind in MODEL_TYPES.items():
        row = re.search(rf"^\| `{name}` \| (.*) \|$", text, re.MULTILINE)
        for each in re.findall(r"`(\w+)=(.*?)`", row[1]) if row else []:
            assert repr(inspect.signature(kind).parameters[each[0]].default) == each[1]


def test_the_table_of_the_ladder_has_every_rung_of_the_example():
    text = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")
    rungs = runpy.run_path(str(ROOT / "examples" / "ladder.py"))["RUNGS"]
    for version, name, *_ in rungs:
        assert text.count(f"| {version} | {name} |") == 4
