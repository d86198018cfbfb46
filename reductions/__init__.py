"""Reductions between ENCD (a biclique of exact size) and OFF-LINE-COUPLED (docs/model.md section 7).

This package knows ``instances`` only: it decides ENCD on the graph (`solve_encd`), and maps problems and witnesses; who
solves the instances is another package's affair.
"""

from hindsched.reductions.direct import Decision
from hindsched.reductions.direct import solve as solve_encd
from hindsched.reductions.encd import Biclique, Encd
from hindsched.reductions.graphs import from_matrix, read_graph, write_graph
from hindsched.reductions.largest import Measure, largest
from hindsched.reductions.reduction import Reduction, Size
from hindsched.reductions.to_coupled import REDUCTIONS, ToMu1, ToMuInf

__all__ = [
    "REDUCTIONS",
    "Biclique",
    "Decision",
    "Encd",
    "Measure",
    "Reduction",
    "Size",
    "ToMu1",
    "ToMuInf",
    "from_matrix",
    "largest",
    "read_graph",
    "solve_encd",
    "write_graph",
]

if __name__ == "reductions":  # its name in release 0.1
    from hindsched.old_names import redirect

    redirect(__name__)
