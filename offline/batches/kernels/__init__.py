"""The rungs as machine code: earliest ends, and the flow of contacts into workers."""
