"""What all tests share."""

import logging

from hypothesis import settings

# no test depends on the clock: on a busy machine an example may take as long as it likes
settings.register_profile("house", deadline=None)
settings.load_profile("house")

# which test is the first to compile depends on the order of tests, so none sees that it is told
logging.getLogger("hindsched.compiling").disabled = True
