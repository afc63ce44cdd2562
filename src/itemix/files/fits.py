"""What Gibbs sampling has learned: the draws of all chains one after the other, and the chains' traces."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from itemix.files import training
from itemix.inference.chains import Chain, Chains
from itemix.inference.gibbs import Draw
from itemix.inference.priors import Prior
from itemix.models.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itemix.estimators.base import MixtureEstimator
    from itemix.files.container import Content
    from itemix.inference.priors import Weights
    from itemix.models.mixture import Mixture

Array = npt.NDArray[Any]

_TRACES = {"log_joint": np.float64, "n_components": np.int64, "alpha": np.float64}


def encode(model: MixtureEstimator) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the fields of the training summary and the arrays."""
    chains: Chains = vars(model)["chains_"]
    header = {
        "n_transactions": int(model.counts_.n_transactions),
        "interrupted": chains.interrupted,
        "stopped": chains.stopped,
        **training.of_prior(chains.draws[-1].prior),
    }
    return header, {**_of_chains(chains.chains), **_of_draws(chains.draws)}


def decode(content: Content, mixture: Mixture, cls: type[MixtureEstimator]) -> dict[str, Any]:
    """Return the learned attributes by name."""
    draws = read_draws(content, mixture, weights=vars(cls)["_weights"])
    posteriors = tuple(draw.posterior() for draw in draws)
    if sum(posterior.n_components for posterior in posteriors) != mixture.n_components:
        raise content.damaged("its mixture is not that of its draws")
    counts = draws[-1].counts()
    if counts.n_transactions != content.whole("training", "n_transactions"):
        raise content.damaged("its draws do not fit its number of transactions")
    return {
        "chains_": Chains(
            _read_chains(content, draws),
            content.field(bool, "training", "interrupted"),
            content.field(bool, "training", "stopped"),
        ),
        "counts_": counts,
        "posterior_": posteriors[-1],
        "prior_": draws[-1].prior,
        "posteriors_": posteriors,
    }


def _of_draws(draws: Sequence[Draw]) -> dict[str, Array]:
    return {
        "draws.n_components": np.array([len(draw.sizes) for draw in draws], dtype=np.int64),
        "draws.sizes": np.concatenate([draw.sizes for draw in draws], dtype=np.int64),
        "draws.item_counts": np.concatenate([draw.item_counts for draw in draws], dtype=np.int32),
        "draws.alpha": np.array([draw.prior.alpha for draw in draws], dtype=np.float64),
        "draws.beta": np.array([draw.prior.beta for draw in draws], dtype=np.float64),
        "draws.gamma": np.array([draw.prior.gamma for draw in draws], dtype=np.float64),
    }


def read_draws(content: Content, mixture: Mixture, weights: Weights) -> tuple[Draw, ...]:
    """Return the draws of all chains, one after the other."""
    D = mixture.n_items
    lengths = content.take("draws.n_components", np.int64, None)
    slices = _slices(content, "draws.n_components", lengths)
    S, total = len(slices), slices[-1].stop
    sizes = content.take("draws.sizes", np.int64, total)
    item_counts = content.take("draws.item_counts", np.int32, total, D)
    alpha = content.take("draws.alpha", np.float64, S)
    beta, gamma = (content.take(f"draws.{name}", np.float64, S, D) for name in ("beta", "gamma"))
    if (item_counts > sizes[:, None]).any():
        raise content.damaged("a component of a draw holds an item more often than transactions")
    Counts(sizes, item_counts)  # refuses negative ones
    if not all(((values > 0) & np.isfinite(values)).all() for values in (alpha, beta, gamma)):
        raise content.damaged("the hyperparameters of its draws are not all above 0")
    return tuple(
        Draw(
            sizes[part],
            item_counts[part],
            Prior(float(alpha[s]), beta[s], gamma[s], weights),
            mixture.items,
        )
        for s, part in enumerate(slices)
    )


def _of_chains(chains: Sequence[Chain]) -> dict[str, Array]:
    traces = {
        f"chains.{name}": np.concatenate([getattr(chain, name) for chain in chains], dtype=dtype)
        for name, dtype in _TRACES.items()
    }
    return {
        **traces,
        "chains.n_iter": np.array([len(chain.log_joint) for chain in chains], dtype=np.int64),
        "chains.n_draws": np.array([len(chain.draws) for chain in chains], dtype=np.int64),
        "chains.n_burn": np.array([chain.n_burn for chain in chains], dtype=np.int64),
        "chains.converged": np.array([chain.converged for chain in chains], dtype=np.bool_),
    }


def _read_chains(content: Content, draws: tuple[Draw, ...]) -> tuple[Chain, ...]:
    n_iter = content.take("chains.n_iter", np.int64, None)
    C = len(n_iter)
    n_draws, n_burn = (content.take(f"chains.{name}", np.int64, C) for name in ("n_draws", "n_burn"))
    converged = content.take("chains.converged", np.bool_, C)
    trace_parts = _slices(content, "chains.n_iter", n_iter)
    draw_parts = _slices(content, "chains.n_draws", n_draws)
    if draw_parts[-1].stop != len(draws) or (n_burn < 0).any() or (n_burn > n_iter).any():
        raise content.damaged("its chains do not fit their draws and iterations")
    length = trace_parts[-1].stop
    traces = {name: content.take(f"chains.{name}", dtype, length) for name, dtype in _TRACES.items()}
    return tuple(
        Chain(
            state=None,
            draws=draws[draw_parts[c]],
            n_burn=int(n_burn[c]),
            converged=bool(converged[c]),
            **{name: values[trace_parts[c]] for name, values in traces.items()},
        )
        for c in range(C)
    )


def _slices(content: Content, name: str, lengths: Array) -> list[slice]:
    """Return where parts of these lengths lie one after the other; each has at least one element."""
    if len(lengths) == 0 or (lengths < 1).any():
        raise content.damaged(f"its {name} are not all 1 or more")
    return [slice(a, b) for a, b in pairwise(accumulate(lengths.tolist(), initial=0))]
