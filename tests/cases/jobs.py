"""Single jobs of campaigns."""

from hindsched.bench.campaign.jobs import RunPlan
from hindsched.bench.family import family_named


def policy_job(source, policy, options):
    """Return the job that runs one policy on one instance."""
    return RunPlan.of(family_named(source.family), policy, options).job(source)
