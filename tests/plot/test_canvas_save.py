"""Pictures are written whole: fine enough to print, or as vectors, with nothing cut off."""

import struct

import pytest

import itemix
from itemix import plot
from itemix.errors import InvalidInputError


@pytest.fixture
def picture(itemsets):
    """A picture with text far outside of its axes."""
    ax = plot.top_itemsets(itemsets)
    ax.annotate("far away", (-0.5, 1.3), xycoords="axes fraction", annotation_clip=False)
    return ax


def test_png_can_be_printed(picture, tmp_path):
    """It has 300 dots an inch, and is larger than the figure, as what lies outside belongs to it."""
    plot.save(picture, tmp_path / "picture.png")
    content = (tmp_path / "picture.png").read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    inches = picture.figure.get_size_inches()
    assert width > 300 * inches[0] or height > 300 * inches[1]
    assert struct.unpack(">I", content[content.index(b"pHYs") + 4 :][:4])[0] == round(300 / 0.0254)


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_vectors_are_the_same_each_time(itemsets, tmp_path, ending):
    """The same picture gives the same file, without the time of day in it."""
    for name in ("first", "second"):
        plot.save(plot.top_itemsets(itemsets), tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"first.{ending}").read_bytes() == (tmp_path / f"second.{ending}").read_bytes()


def test_only_axes_are_saved(tmp_path):
    """Itemsets are no picture of them."""
    with pytest.raises(InvalidInputError, match=r"expected the axes that .* returned, got list; try save"):
        plot.save([1], tmp_path / "picture.png")


def test_other_endings_are_refused(picture, tmp_path):
    """One line says which endings there are, and the file is not touched."""
    with pytest.raises(
        InvalidInputError, match=r"ends in \.png, \.svg, \.pdf, got 'picture\.xyz'; try picture\.png"
    ):
        plot.save(picture, tmp_path / "picture.xyz")
    assert list(tmp_path.iterdir()) == []
    picture.remove()
    with pytest.raises(InvalidInputError, match="axes that were removed"):
        itemix.plot.save(picture, tmp_path / "picture.png")
