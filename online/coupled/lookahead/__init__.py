"""Look-ahead policies: plan by an exact criterion, stand by, prefetch, compare by rollout (docs/lookahead.md)."""
