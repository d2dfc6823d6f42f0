"""The HTTP face: FastAPI on uvicorn. No torch in this process."""
