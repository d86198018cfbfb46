"""Studies behind the results in the documentation: reproductions of papers, races, claims, and page writers.

Run a study from a checkout with ``python -m docs.studies NAME``; ``python -m docs.studies pages`` writes the numbers
of all pages from the rows in ``docs/studies/rows``. Studies import the toolkit; the toolkit imports no study.
"""
