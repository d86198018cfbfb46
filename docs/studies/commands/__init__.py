"""Commands of the studies, one module each."""
