"""`python -m appliance` and the console script."""

import os


def main() -> None:
    # Looking for other packages' pydantic plugins reads the metadata of everything installed, on every start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from appliance.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
