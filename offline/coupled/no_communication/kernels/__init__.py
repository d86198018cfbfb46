"""What the search for teams has compiled beyond the kernels of `hindsched.offline.kmis`."""
