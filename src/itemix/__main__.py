"""``python -m itemix``: the same as the command `itemix`."""

import sys

from itemix.cli import main

if __name__ == "__main__":
    sys.exit(main())
