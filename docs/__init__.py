"""The documentation and the studies behind its results; neither is installed with the package."""
