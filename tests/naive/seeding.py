"""A slow, obvious twin of the seeding kernel, on dense rows."""


def nearest_seeds(matrix, seeds):
    """Return the Hamming distance of each row to its nearest seed, a row, and the number of that seed."""
    found = []
    for row in matrix:
        distances = [sum(x != y for x, y in zip(row, matrix[seed], strict=True)) for seed in seeds]
        found.append((min(distances), distances.index(min(distances))))
    return [distance for distance, _ in found], [number for _, number in found]
