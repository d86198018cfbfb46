"""Read mutants of files of every form; print each defect, and keep its file."""

import argparse
import sys
from pathlib import Path

from tests.fuzz.mutants import defects

parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
parser.add_argument("--mutants", type=int, default=10_000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Write the mutants with defects to this folder.")
given = parser.parse_args()
count = 0
for count, (name, content, defect) in enumerate(defects(given.mutants, given.seed), start=1):
    sys.stdout.write(f"{count}. {name}: {defect.strip()}\n")
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
        (given.keep / f"{count} {name}").write_bytes(content)
sys.stdout.write(f"{given.mutants} mutants, {count} defects\n")
sys.exit(1 if count else 0)
