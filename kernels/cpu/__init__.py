"""Compiled kernels for CPUs: C++ beside this file, built once per machine. Each has its PyTorch truth in the engine."""
