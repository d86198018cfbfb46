"""OFF-LINE-COUPLED on line: tightly-coupled iterative applications on volatile workers, the future unknown."""
