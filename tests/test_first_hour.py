"""What a person does in the first hour works: see `first_hour.py`."""

from pathlib import Path

from first_hour import Hour, jobs_with_a_model, small_jobs


def test_small_jobs_need_no_compiler(tmp_path):
    """Itemsets and rules from files of three shapes, with an empty cache that stays empty."""
    cache = tmp_path / "cache"
    variables = dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"), str(cache))
    small_jobs(Hour(tmp_path, ITEMIX_COMPILE="later", **variables))
    assert not [path for path in Path(cache).rglob("*") if path.suffix in (".nbi", ".nbc")]


def test_a_model_answers(tmp_path):
    """A model is fitted, asked, evaluated and shown; Python writes the same files."""
    jobs_with_a_model(Hour(tmp_path))
