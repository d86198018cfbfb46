"""Schedulers that see only the past: simulators, published and better policies, and the protocols for your own.

This package knows ``instances`` only. Families of problems live in sub-packages (``online.coupled``); what all
families share lies beside them.
"""

from hindsched.online.policies import make_policy, our_policy_names, policy_names, run_policy

__all__ = ["make_policy", "our_policy_names", "policy_names", "run_policy"]

if __name__ == "online":  # its name in release 0.1
    from hindsched.old_names import redirect

    redirect(__name__)
