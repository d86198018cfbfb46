"""The compiled parts of the core search: everything here is numba, and nothing else is.

`compiling` says how kernels are compiled and where they are kept, `vectors`, `blocks` and `transpose` are the
operations on eight words at once, `layout` says what stands where in the arrays that hold a search's state.
"""
