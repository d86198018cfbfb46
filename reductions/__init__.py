"""Reductions from ENCD (a biclique of exact size) to OFF-LINE-COUPLED (docs/model.md section 7).

The package decides ENCD on the graph (`solve_encd`) and maps problems and witnesses. It imports ``instances`` only; the
package ``offline`` solves the instances.
"""

from hindsched.reductions.bipartite_graph import BipartiteGraph, from_matrix
from hindsched.reductions.branch_and_bound import Decision
from hindsched.reductions.branch_and_bound import solve as solve_encd
from hindsched.reductions.encd import Biclique, Encd
from hindsched.reductions.graph_files import read_graph, write_graph
from hindsched.reductions.largest_biclique import Measure, largest
from hindsched.reductions.reduction import Reduction, Size
from hindsched.reductions.to_coupled import REDUCTIONS, ToMu1, ToMuInf

__all__ = [
    "REDUCTIONS",
    "Biclique",
    "BipartiteGraph",
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
