"""A model in a file as far as questions need it: read without the estimator, and so without scikit-learn."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itemix._files import Held
from itemix.files import container, fits, models
from itemix.models.corrected import CorrectedMixture
from itemix.models.mixture import Mixture
from itemix.models.trees import TreeMixture

if TYPE_CHECKING:
    import os

    from itemix.correction import Choice
    from itemix.files.container import Content
    from itemix.inference.priors import Weights
    from itemix.mining.intervals import ErrorSource
    from itemix.models.base import Model
    from itemix.models.posterior import Posterior

_WEIGHTS_OF_SAMPLED: dict[str, Weights] = {"gsfbm": "dirichlet", "gsdpm": "sticks"}
_WITH_POSTERIOR = ("vfbm", "vdpm")


class StoredModel:
    """A model that was saved: the value that answers, its posterior, and what is known of the fit.

    Parameters
    ----------
    path : path, or the bytes of a stream
        A file that `itemix.files.save` has written.

    Attributes
    ----------
    path : Path
        Where it is.
    value : Model
        The fitted model, without its correction: a mixture, or another kind of model.
    method : str or None
        How it was fitted, by its short name such as gsdpm; None for a model alone.
    training : dict
        What the file says of the fit: n_transactions, n_iter, converged and more; empty for a model alone.

    Raises
    ------
    MissingFileError
        If there is no such file.
    ModelFileError
        If it is no model file, damaged, or of a newer version.
    """

    def __init__(self, path: str | os.PathLike[str] | Held) -> None:
        self._content: Content = container.read(path)
        self.path = Path(path.name if isinstance(path, Held) else path)
        with self._content.blamed():
            model = models.decode_model(self._content)
        self._corrected = model if isinstance(model, CorrectedMixture) else None
        self.value: Model = model if self._corrected is None else self._corrected.mixture
        is_plain = models.is_alone(self._content)
        self.method = None if is_plain else self._content.field(str, "method")
        self.training: dict[str, Any] = {} if is_plain else self._content.field(dict, "training")

    @cached_property
    def posteriors(self) -> tuple[Posterior, ...]:
        """The distribution of the parameters, for each sample of a sampler; none of maximum likelihood."""
        if not isinstance(self.value, Mixture):
            return ()
        with self._content.blamed():
            if self.method in _WEIGHTS_OF_SAMPLED:
                draws = fits.read_draws(self._content, self.value, _WEIGHTS_OF_SAMPLED[self.method])
                return tuple(draw.posterior() for draw in draws)
            if self.method in _WITH_POSTERIOR:
                return (fits.read_posterior(self._content, self.value),)
        return ()

    @cached_property
    def corrected(self) -> CorrectedMixture | None:
        """The mixture with its correction, None if it has none."""
        if self._corrected is not None or not isinstance(self.value, Mixture):
            return self._corrected
        with self._content.blamed():
            return models.decode_correction(self._content, self.value)

    @cached_property
    def choice(self) -> Choice | None:
        """How the correction was chosen, None if it was not."""
        return models.decode_choice(self._content)

    @property
    def model(self) -> Model:
        """The model that answers questions about itemsets: corrected if it is a mixture that is."""
        return self.value if self.corrected is None else self.corrected

    @property
    def uncertain(self) -> ErrorSource:
        """What knows how sure the model is: the corrected mixture or the posteriors, which may be none."""
        return self.posteriors if self.corrected is None else self.corrected

    @cached_property
    def components(self) -> Mixture:
        """The components as a mixture of products, in which items are as probable as in the model.

        Of an average of samples it has those of the last sample; a model without components is one.
        """
        value = self.value
        if isinstance(value, Mixture):
            return self.posteriors[-1].mixture() if len(self.posteriors) > 1 else value
        if isinstance(value, TreeMixture):
            return Mixture(value.weights, value.component_probabilities, value.items)
        return Mixture([1.0], value.item_probabilities[None], value.items)
