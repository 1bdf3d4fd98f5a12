"""Record batches as bytes: what goes through Spark in one piece, whatever its columns are."""

import pyarrow as pa


def packed(batch: pa.RecordBatch) -> bytes:
    """Return a batch as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def unpacked(data: bytes) -> pa.RecordBatch:
    """Return the batch that bytes hold."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()
