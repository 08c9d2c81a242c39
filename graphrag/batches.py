"""How row-split work leaves the process: the one function that a stage is handed for it.

What splits by rows (parses, vectors) is done in this process or in processes of its own, unless the stage is handed a
`MapBatches`, which takes each batch somewhere else (flows/batches.py: processes or a Dask cluster). The work is a
function of a module, or a partial of one, and depends on its batch alone: it can run on any machine that has this
package. What it returns comes back to the caller, who alone writes the memo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class MapBatches(Protocol):
    """Like `map`: the results in the order of `batches`, each as soon as it and those before it are there."""

    def __call__(self, work: Callable[[list[str]], Result], batches: Sequence[list[str]]) -> Iterator[Result]: ...
