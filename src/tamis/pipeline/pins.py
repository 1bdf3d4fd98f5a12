"""Which version a micro-batch is matched against, for streams whose source cannot carry it in its offset."""

from pathlib import Path

from tamis.matching.segments.files import placed
from tamis.pipeline.errors import StoreError
from tamis.pipeline.store import Store


def pinned(subscriptions: str | Path, pins: str | Path, batch: int) -> int:
    """Return the version for a micro-batch: the one in use when it is first asked for, and the same ever after.

    `pins` is a folder of its own for each query, best beside its checkpoint. For use in `foreachBatch`, whose batches
    keep their numbers when they are repeated. Versions must not be pruned as long as a batch may be repeated with them.
    """
    folder = Path(pins)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{batch:012}"
    if not file.exists():
        number = Store(subscriptions).current()
        with placed(file) as written:
            written.write(str(number).encode())
        # What came before is done: one repeated batch at most is ever asked for.
        for old in folder.iterdir():
            if old.name.isdigit() and int(old.name) < batch - 1:
                old.unlink(missing_ok=True)
    try:
        return int(file.read_bytes())
    except ValueError:
        raise StoreError(f"{file} is damaged: it names no version") from None
