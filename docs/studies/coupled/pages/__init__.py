"""Writers of the pages of results of ``coupled``, from the rows in ``docs/studies/rows``."""
