"""The command `orrery`, as in a shell: python -m orrery run scenario.yaml."""
import os
import sys

from ._call import binary
from ._errors import Error


def main() -> None:
    try:
        program = binary()
    except Error as error:
        sys.exit(str(error))
    os.execv(program, ["orrery", *sys.argv[1:]])


if __name__ == "__main__":
    main()
