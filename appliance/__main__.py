"""`python -m appliance` and the console script."""

from appliance.cli.app import main

if __name__ == "__main__":
    main()
