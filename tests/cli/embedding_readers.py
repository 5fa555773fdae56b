"""Reads exported embeddings by pyarrow, pandas and NumPy, and writes them as other programs do.

usage: embedding_readers.py check        reads out.parquet, out.npy and out.txt
       embedding_readers.py write KIND   writes in.npy with in.txt, or in.parquet, from out.parquet
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq


def check() -> None:
    schema = pq.read_schema("out.parquet")
    assert schema.field("file_name").type == pa.string()
    assert schema.field("embedding").type.value_type == pa.float32()
    frame = pd.read_parquet("out.parquet")
    vectors = np.load("out.npy")
    names = Path("out.txt").read_text(encoding="utf-8").splitlines()
    assert vectors.dtype == np.float32 and vectors.flags.c_contiguous
    assert list(frame["file_name"]) == names and len(names) == len(vectors)
    assert np.array_equal(np.stack(frame["embedding"].to_numpy()), vectors)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-2)
    print(len(names), "embeddings")


def write(kind: str) -> None:
    frame = pd.read_parquet("out.parquet")
    vectors = np.stack(frame["embedding"].to_numpy()) * 7
    names = list(frame["file_name"])
    Path("in.txt").write_text("\n".join(names), encoding="utf-8")
    arrays = {
        "float16": vectors.astype(np.float16),
        "float64": vectors.astype(np.float64),
        "fortran": np.asfortranarray(vectors),
        "big": vectors.astype(">f4"),
        "whole": (vectors * 100).astype(np.int64),
        "objects": np.array([{"a": 1}, None], dtype=object),
        "flat": vectors.ravel(),
    }
    columns = {
        "halves": pa.array(list(vectors.astype(np.float16)), pa.list_(pa.float16())),
        "fixed": pa.array(list(vectors), pa.list_(pa.float32(), vectors.shape[1])),
        "doubles": pa.array(list(vectors.astype(np.float64)), pa.list_(pa.float64())),
    }
    if kind in arrays:
        np.save("in.npy", arrays[kind])
    else:
        table = pa.table({"path": names, "embedding": columns[kind], "note": ["x"] * len(names)})
        pq.write_table(table, "in.parquet", compression="zstd")


if __name__ == "__main__":
    check() if sys.argv[1] == "check" else write(sys.argv[2])
