"""The paper's experiment again: runs on generated workloads and a real log, tables, and its claims one by one."""
