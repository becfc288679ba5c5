"""The bench itself: the binary of this package takes over."""

import os
import subprocess
import sys

from leakbench.lab import binary


def main():
    argv = [binary(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(argv[0], argv)
    sys.exit(subprocess.call(argv))


if __name__ == "__main__":
    main()
