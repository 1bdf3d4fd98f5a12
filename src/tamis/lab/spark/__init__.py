"""The lab on Spark: points of a grid as tasks, workloads of any size, and brute force in parallel."""
