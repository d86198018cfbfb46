"""What all tests share."""

from hypothesis import settings

# no test depends on the clock: on a busy machine an example may take as long as it likes
settings.register_profile("house", deadline=None)
settings.load_profile("house")
