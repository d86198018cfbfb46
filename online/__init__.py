"""On-line schedulers: simulators, the published policies, better ones, and the protocols for policies of your own.

A policy sees the past and the present, never the future. Each family of problems has a sub-package
(`hindsched.online.coupled`, ...); the other modules serve all families. Modules in a folder ``kernels`` are compiled
twins of plain modules. The plain ones are easier to read, and both give the same runs.
"""

from hindsched.online.policies import make_policy, our_policy_names, policy_names, run_policy

__all__ = ["make_policy", "our_policy_names", "policy_names", "run_policy"]

if __name__ == "online":  # its name in release 0.1
    from hindsched.old_names import redirect

    redirect(__name__)
