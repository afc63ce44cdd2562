"""``python -m itemix``: the same as the command `itemix`."""

import sys

from itemix.cli import INTERRUPTED, main

if __name__ == "__main__":
    code = main()
    if code == INTERRUPTED:
        # Where Ctrl-C came while code in a string ran, as when dataclasses are made, `python -m` would
        # end by the signal instead of with the code; running another string makes it forget.
        exec("")  # noqa: S102 - see above
    sys.exit(code)
