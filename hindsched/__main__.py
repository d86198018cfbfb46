"""``python -m hindsched``: the command line."""

from hindsched.bench.cli import main

if __name__ == "__main__":
    main()
