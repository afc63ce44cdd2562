"""The experiments of the paper, run by ``python -m benchmarks.paper`` from the root of the repository.

`scales` says what there is to do, `measures` does one piece of it, `store` keeps every result, and `document`
makes ``docs/results.md`` and its figures from what is kept, without fitting anything again.
"""
