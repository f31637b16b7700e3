"""The command `orrery`, as in a shell: python -m orrery run scenario.yaml."""
import os
import sys

from ._call import binary


def main() -> None:
    program = binary()
    os.execv(program, ["orrery", *sys.argv[1:]])


if __name__ == "__main__":
    main()
