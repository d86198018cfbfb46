"""Run ``python -m docs.studies NAME``."""

from __future__ import annotations

import click

from hindsched.bench.cli import main


def _load() -> click.Command:
    from docs.studies.cli import studies

    return studies


if __name__ == "__main__":
    main("python -m docs.studies", _load)
