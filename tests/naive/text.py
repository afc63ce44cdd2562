"""Slow, obvious twins of kernels/text.py and kernels/text.py, on text."""

YES = {"1", "true", "t", "yes", "y", "1.0"}
NO = {"0", "false", "f", "no", "n", "0.0"}


def parse_fimi(text):
    """Return the labels of each line."""
    return [[int(word) for word in line.encode().split()] for line in text.removesuffix("\n").split("\n")]


def parse_onehot(text, delimiter, code_of_column):
    """Return the codes of the cells that say yes, for each line that is not empty."""
    rows = []
    for line in text.removesuffix("\n").split("\n"):
        cells = [cell.strip(' "\t\r\v\f').lower() for cell in line.split(delimiter)]
        if cells == [""]:
            continue
        assert len(cells) == len(code_of_column)
        assert all(c in YES | NO for c, code in zip(cells, code_of_column, strict=True) if code >= 0)
        pairs = zip(cells, code_of_column, strict=True)
        rows.append([code for cell, code in pairs if code >= 0 and cell in YES])
    return rows


def renamed(codes, new_code):
    """Return the new code of each code."""
    return [new_code[code] for code in codes]
