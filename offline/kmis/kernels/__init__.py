"""The compiled parts of the search: everything here is numba, and nothing else is.

`tree_search` branches over items, from the root that `roots` makes, split as `estimate` says; `squeeze` makes nodes
smaller, `solutions` names what was found, `incumbent` finds the first one, `packing` makes words of an array, `attempt`
does all of it in one call. `compiled` has the decorator of the kernels and their types; `vectors`, `eights` and
`transpose` are the operations on eight words at once; `search_layout` says what stands where in the arrays that hold a
search's state.
"""
