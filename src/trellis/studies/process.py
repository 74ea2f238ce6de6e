"""Peak memory and wall time of one function in a process of its own.

The peak is the kernel's high-water mark of the process' own memory (VmHWM). `getrusage` is only the fallback: on
Linux its `ru_maxrss` survives `exec`, so a child started from a large parent reports the parent's size.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from trellis.errors import TrellisError
from trellis.studies.clock import timed


@dataclass(frozen=True)
class Apart:
    """What a process took from start to exit; `peak_bytes` is None where the platform does not tell."""

    seconds: float
    peak_bytes: int | None

    def as_json(self) -> dict[str, Any]:
        return {"peak_bytes": self.peak_bytes, "seconds": self.seconds}


def run_apart(function: str, *arguments: Any) -> Apart:
    """Runs `module:function` with arguments that JSON can carry, in a fresh interpreter."""
    package_home = str(Path(__file__).parents[2])
    paths = [package_home, *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", "trellis.studies.process", function, json.dumps(arguments)]
    done, seconds = timed(
        lambda: subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise TrellisError(f"the process that measures {function} ended with status {done.returncode}: {last}")
    return Apart(seconds, json.loads(done.stdout.splitlines()[-1]))


def peak_bytes() -> int | None:
    """The most memory this process has held so far."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        status = ""
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:  # not on Windows
        return None
    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _main(function: str, arguments: str) -> None:
    module, name = function.split(":")
    getattr(import_module(module), name)(*json.loads(arguments))
    print(json.dumps(peak_bytes()))


if __name__ == "__main__":
    _main(*sys.argv[1:])
