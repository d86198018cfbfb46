"""The paper's experiment again: its runs, its claims, Theorem 1 and hypothesis 1."""
