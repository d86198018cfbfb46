"""The kernels of the bound by rents, in a group of their own: an edit of the search compiles nothing anew."""
