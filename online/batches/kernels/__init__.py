"""The simulator and the built-in masters as machine code, contact for contact the same as their plain twins."""
