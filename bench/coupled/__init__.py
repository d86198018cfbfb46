"""OFF-LINE-COUPLED: tightly-coupled iterative applications on volatile workers."""
