"""``hindsched bench``: measurements and data that the documentation rests on."""
