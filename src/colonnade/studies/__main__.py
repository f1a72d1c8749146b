"""``python -m colonnade.studies``."""

from colonnade.studies.run import main

if __name__ == "__main__":
    raise SystemExit(main())
