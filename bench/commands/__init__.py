"""The verbs of the command line, one module each; heavy libraries are imported inside the commands that need them."""
