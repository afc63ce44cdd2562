"""Kernels that must be compiled first: say so on the terminal, and do not count it as time of the work."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOTICE = "compiling for this machine; that is kept, and later runs start at once\n"


class Stopwatch:
    """Measures time, without the time in which kernels are compiled.

    Parameters
    ----------
    compiling : numba.core.event.TimingListener
        Which numba tells when it compiles.
    """

    def __init__(self, compiling: Any) -> None:  # noqa: ANN401 - numba has no types
        self._began = time.perf_counter()
        self._compiling = compiling

    def seconds(self) -> float:
        """Return the seconds so far that were not spent on compiling."""
        compiled: float = self._compiling.duration if self._compiling.done else 0.0
        return max(time.perf_counter() - self._began - compiled, 0.0)


@contextmanager
def stopwatch(*, quiet: bool) -> Iterator[Stopwatch]:
    """Yield a stopwatch that starts now; on a terminal, say it when kernels have to be compiled."""
    from numba.core import event

    _forgo_matrix_products()

    class Compiling(event.TimingListener):
        is_said = quiet or not sys.stderr.isatty()

        def on_start(self, started: Any) -> None:  # noqa: ANN401 - numba's Event
            if not self.is_said:
                sys.stderr.write(_NOTICE)
            self.is_said = True
            super().on_start(started)  # type: ignore[no-untyped-call]

    with event.install_listener("numba:compile", Compiling()) as compiling:  # type: ignore[no-untyped-call]
        yield Stopwatch(compiling)


def _forgo_matrix_products() -> None:
    """Load what Numba loads for any kernel, but let it believe that there is no BLAS.

    To see whether there is one, it imports all of SciPy's linear algebra, a tenth of a command's time; no
    kernel of ours multiplies matrices.
    """
    blas = "scipy.linalg.cython_blas"
    if blas in sys.modules:
        return
    sys.modules[blas] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[blas]
