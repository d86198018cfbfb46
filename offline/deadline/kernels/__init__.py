"""Machine code of the native solver of ``deadline``."""
