"""Whether chains agree: rank-normalised split R-hat and bulk effective sample size (Vehtari et al. 2021).

Draws are arrays of shape (n_chains, n_draws). Both are NaN where there are fewer than four draws, or where
nothing varies.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_FEWEST_DRAWS = 4


def r_hat(draws: npt.ArrayLike) -> float:
    """Return the larger R-hat of the draws and of their distances from the median, rank-normalised.

    Near 1 where the halves of all chains have one distribution; above 1.01 they have not mixed.
    """
    halves = _split(draws)
    if halves is None:
        return float("nan")
    folded = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(_rank_normalised(halves)), _plain_r_hat(_rank_normalised(folded)))


def effective_sample_size(draws: npt.ArrayLike) -> float:
    """Return how many independent draws would tell as much about the bulk of the distribution."""
    halves = _split(draws)
    return float("nan") if halves is None else _plain_ess(_rank_normalised(halves))


def _split(draws: npt.ArrayLike) -> Floats | None:
    """Cut each chain in two, leaving out a middle draw; None where there is nothing to diagnose."""
    values = np.atleast_2d(np.asarray(draws, dtype=np.float64))
    n = values.shape[1]
    if n < _FEWEST_DRAWS or not np.isfinite(values).all() or np.ptp(values) == 0:
        return None
    half = n // 2
    return np.concatenate([values[:, :half], values[:, n - half :]])


def _rank_normalised(values: Floats) -> Floats:
    """Replace values by the normal quantiles of their ranks, ties by their average rank."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    ranks = rankdata(values, method="average").reshape(values.shape)
    normal: Floats = ndtri((ranks - 0.375) / (values.size + 0.25))
    return normal


def _variances(chains: Floats) -> tuple[float, float]:
    """Return the mean variance within chains, and the estimate of the variance over all of them."""
    n = chains.shape[1]
    within = float(chains.var(axis=1, ddof=1).mean())
    between = float(chains.mean(axis=1).var(ddof=1))
    return within, within * (n - 1) / n + between


def _plain_r_hat(chains: Floats) -> float:
    within, overall = _variances(chains)
    if within == 0:
        return float("nan") if overall == 0 else float("inf")
    return float(np.sqrt(overall / within))


def _plain_ess(chains: Floats) -> float:
    """Sum the autocorrelations by Geyer's initial monotone sequence of pairs, as Stan and ArviZ do.

    Pairs of neighbouring lags are summed up to the first that is not positive; of that one, the even lag
    counts half if it is positive.
    """
    m, n = chains.shape
    within, overall = _variances(chains)
    if overall == 0:
        return float("nan")
    covariance = np.mean([_autocovariance(chain) for chain in chains], axis=0)
    correlation = 1 - (within - covariance) / overall
    correlation[0] = 1.0
    pairs = correlation[: max((n - 1) // 2, 1) * 2].reshape(-1, 2).sum(axis=1)
    positive = pairs > 0
    cut = len(pairs) - 1 if positive.all() else int(np.argmin(positive))
    half = correlation[2 * cut] if pairs[cut] >= 0 else max(correlation[2 * cut], 0.0)
    time = -1 + 2 * float(np.minimum.accumulate(pairs[:cut]).sum()) + float(half)
    return float(m * n / max(time, 1 / np.log10(m * n)))


def _autocovariance(chain: Floats) -> Floats:
    """Return the biased autocovariance at every lag, by a Fourier transform."""
    n = len(chain)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(chain - chain.mean(), size)
    covariance: Floats = np.fft.irfft(np.abs(spectrum) ** 2, size)[:n] / n
    return covariance
