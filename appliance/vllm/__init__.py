"""Real vLLM as an engine: what it is started with, the child process that starts it, and how it proves itself."""
