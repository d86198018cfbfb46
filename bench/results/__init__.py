"""From rows to numbers and pictures: results as tables, ratios, distributions, the paper's metrics."""
