"""Which line of a test has launched which process, for --leakbench: a process that is left then has a place in the source."""

import functools
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

INSTALLED = ("site-packages", "dist-packages")
FOREIGN = tuple(
    os.path.normcase(folder) + os.sep
    for folder in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(Path(__file__).parent)}
)
RUNNER = ("_pytest", "pluggy")  # whoever calls a test is no part of it
MOST = 1000  # launches that the bench is told of: a request is one line


def foreign(path):
    """Whether a file belongs to Python, to an installed package or to this one, and not to the project of the tests."""
    return path.startswith("<") or os.path.normcase(path).startswith(FOREIGN) or any(name in Path(path).parts for name in INSTALLED)


class Launches:
    """Looks on while this process launches others. What C code launches by itself (uvloop) is not seen."""

    def __init__(self, base):
        self.base = base  # places are shown from here
        self.made = []  # (pid, place), the oldest first
        self.replaced = []

    def begin(self):
        self.watch(subprocess.Popen, "__init__")
        for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp"):
            if hasattr(os, name):
                self.watch(os, name)
        if os.name == "posix":
            import multiprocessing.util

            self.watch(multiprocessing.util, "spawnv_passfds")

    def end(self):
        for owner, name, original in reversed(self.replaced):
            setattr(owner, name, original)
        self.replaced.clear()

    def watch(self, owner, name):
        original = getattr(owner, name)
        self.replaced.append((owner, name, original))

        @functools.wraps(original)
        def launch(*args, **kwargs):
            result = original(*args, **kwargs)
            pid = args[0].pid if owner is subprocess.Popen else result[0] if isinstance(result, tuple) else result
            if pid and (place := self.place(sys._getframe(1))):  # a fork's child has 0
                self.made.append((pid, place))
            return result

        setattr(owner, name, launch)

    def place(self, frame):
        """The line that launches, and the line of the test that has led there; "" where the stack has no line of the project."""
        lines = []
        while frame and frame.f_globals.get("__name__", "").partition(".")[0] not in RUNNER:
            if not foreign(frame.f_code.co_filename):
                lines.append(f"{self.shown(frame.f_code.co_filename)}:{frame.f_lineno}")
            frame = frame.f_back
        if not lines:
            return ""
        return lines[0] if lines[0] == lines[-1] else f"{lines[0]} (called at {lines[-1]})"

    def shown(self, path):
        try:
            return str(Path(path).relative_to(self.base))
        except ValueError:
            return path

    def since(self, count):
        return [{"pid": pid, "at": place} for pid, place in self.made[count:][-MOST:]]
