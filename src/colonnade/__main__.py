"""`python -m colonnade`: the command line."""

from colonnade.cli import main

if __name__ == "__main__":
    main()
