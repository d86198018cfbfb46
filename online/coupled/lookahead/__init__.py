"""Look-ahead policies: plan by an exact criterion, stand by, prefetch, compare by rollout (docs/lookahead.md).

The modules of this folder are written to be read; its folder ``kernels`` has compiled twins.
"""
