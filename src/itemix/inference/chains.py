"""The values that sampling ends with: chains, their traces and draws, and the average of the draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from itemix.inference.diagnostics import effective_sample_size, r_hat
from itemix.inference.loop import Fitted
from itemix.models.mixture import Mixture

if TYPE_CHECKING:
    from itemix.inference.gibbs import Draw, State
    from itemix.models.posterior import Posterior

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Chain:
    """One chain.

    Attributes
    ----------
    state : State or None
        Its last state, from which it can go on; None if the chain comes from a file.
    draws : tuple of Draw
        The posterior samples that were kept; the last state if burn-in never ended.
    log_joint, n_components, alpha : array, shape (n_iter,)
        The trace: the value after each iteration.
    n_burn : int
        How many of the iterations were burn-in.
    converged : bool
        Whether the trace had settled then.
    """

    state: State | None
    draws: tuple[Draw, ...]
    log_joint: Floats
    n_components: Floats
    alpha: Floats
    n_burn: int
    converged: bool


@dataclass(frozen=True)
class Chains:
    """Several chains of one model.

    Attributes
    ----------
    chains : tuple of Chain
        All chains that did at least one iteration.
    interrupted : bool
        Whether Ctrl-C ended them.
    stopped : bool
        Whether a callback ended them.
    """

    chains: tuple[Chain, ...]
    interrupted: bool = False
    stopped: bool = False

    @property
    def converged(self) -> bool:
        """Whether the traces of all chains had settled."""
        return all(chain.converged for chain in self.chains)

    @property
    def n_iter(self) -> int:
        """The number of iterations of the longest chain."""
        return max(len(chain.log_joint) for chain in self.chains)

    @property
    def draws(self) -> tuple[Draw, ...]:
        """The posterior samples of all chains."""
        return tuple(draw for chain in self.chains for draw in chain.draws)

    def traces(self) -> dict[str, Floats]:
        """Return what was traced after burn-in, arrays of shape (n_chains, n_draws) by name."""
        n = min(len(chain.log_joint) - chain.n_burn for chain in self.chains)
        return {
            name: np.array([getattr(chain, name)[chain.n_burn : chain.n_burn + n] for chain in self.chains])
            for name in ("log_joint", "n_components", "alpha")
        }

    def diagnostics(self) -> dict[str, dict[str, float]]:
        """Return R-hat and effective sample size of everything traced that varies."""
        return {
            name: {"r_hat": r_hat(values), "ess": effective_sample_size(values)}
            for name, values in self.traces().items()
            if values.size and np.ptp(values) > 0
        }

    def to_arviz(self) -> dict[str, dict[str, Floats]]:
        """Return the traces as ArviZ's ``from_dict`` takes them, under the group "posterior"."""
        return {"posterior": self.traces()}

    def finish(self) -> SampledFit:
        """Average the posterior samples: their mixtures stacked are one mixture."""
        posteriors = tuple(draw.posterior() for draw in self.draws)
        mixture = Mixture.stack([posterior.mixture() for posterior in posteriors])
        last = self.draws[-1]
        return SampledFit(mixture, last.counts(), posteriors[-1], last.prior, posteriors)


@dataclass(frozen=True)
class SampledFit(Fitted):
    """What chains end with; `counts`, `posterior` and `prior` are those of the last draw.

    Attributes
    ----------
    posteriors : tuple of Posterior
        The distribution of the parameters given each draw; moments of a probability are averages over these.
    """

    posteriors: tuple[Posterior, ...] = ()
