"""``python -m tests.corpus write DIR``: the cases of all assignments as files."""

import argparse
from pathlib import Path

from tests import corpus


def main() -> None:
    """Write the files, and say how many."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=corpus.__doc__)
    command = parser.add_subparsers(required=True).add_parser("write", help="write all cases")
    command.add_argument("folder", type=Path, metavar="DIR")
    folder = parser.parse_args().folder
    print(f"{corpus.write(folder)} cases of {len(corpus.assignments())} assignments in {folder}")


if __name__ == "__main__":
    main()
