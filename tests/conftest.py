"""Settings and fixtures of all tests."""

import logging

from hypothesis import settings

# No test depends on the clock: an example may take any time on a busy machine.
settings.register_profile("house", deadline=None)
settings.load_profile("house")

# The message about compilation goes to the first test that compiles, which depends on the order of tests.
logging.getLogger("hindsched.compiling").disabled = True
