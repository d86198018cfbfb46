"""Compiled kernels of the search; all numba code is here.

`tree_search` branches over items, from the root that `root_node` makes, split by `tree_size_estimate`; `compaction`
makes nodes smaller; `solutions` reads a solution; `incumbent` finds the first one; `bit_matrix` makes words of an
array; `single_call` does all of it in one call. `vectors`, `candidate_vectors` and `transpose` are the operations on
eight words at once; `search_state` lays out the arrays of a search; `word_constants` has the constants of 64-bit words.
"""
