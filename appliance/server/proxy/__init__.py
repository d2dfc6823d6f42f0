"""Requests go on to vLLM processes, streaming, with the same door in front as the native engine has."""
