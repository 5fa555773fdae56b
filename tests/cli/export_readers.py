"""Checks that an extracted export is read with its types by pandas, polars, pyarrow, duckdb and `datasets`."""

import sys
from pathlib import Path

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

ISSUE = pa.struct([("type", pa.string()), ("confidence", pa.float64()), ("group", pa.string())])
OBJECT = pa.struct(
    [
        ("label", pa.string()),
        ("bbox", pa.list_(pa.float64())),
        ("score", pa.float64()),
        ("polygons", pa.list_(pa.list_(pa.float64()))),
        ("mask", pa.struct([("size", pa.list_(pa.int64())), ("counts", pa.string())])),
        ("keypoints", pa.list_(pa.float64())),
        ("is_crowd", pa.bool_()),
        ("uniqueness_score", pa.float64()),
        ("issues", pa.list_(ISSUE)),
        ("user_tags", pa.list_(pa.string())),
        ("user_rating", pa.int32()),
    ]
)
TYPES = {
    "file_name": pa.string(),
    "file_size": pa.int64(),
    "modified_at": pa.timestamp("us", tz="UTC"),
    "uniqueness_score": pa.float64(),
    "width": pa.int32(),
    "caption": pa.string(),
    "labels": pa.list_(pa.string()),
    "user_tags": pa.list_(pa.string()),
    "user_rating": pa.int32(),
    "issues": pa.list_(ISSUE),
    "objects": pa.list_(OBJECT),
}


def same_type(one: pa.DataType, other: pa.DataType) -> bool:
    """Compares types without the names of list elements and without nullability."""
    if pa.types.is_list(one) and pa.types.is_list(other):
        return same_type(one.value_type, other.value_type)
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        names = [field.name for field in one] == [field.name for field in other]
        return names and all(same_type(a.type, b.type) for a, b in zip(one, other))
    return one == other


def check_table(path: Path) -> None:
    """Reads the table by four tools, which have to find the same rows."""
    table = pq.read_table(path)
    for name, expected in TYPES.items():
        found = table.schema.field(name).type
        assert same_type(found, expected), f"{name}: {found} instead of {expected}"
    rows = table.to_pylist()
    assert all(row["labels"] is not None and row["objects"] is not None for row in rows)
    boxes = sum(len(row["objects"]) for row in rows)
    assert boxes > 0

    frame = pd.read_parquet(path)
    assert len(frame) == len(rows)
    assert frame["labels"].map(len).sum() == sum(len(row["labels"]) for row in rows)
    assert frame["uniqueness_score"].dtype == "float64" and str(frame["modified_at"].dt.tz) == "UTC"

    lazy = pl.read_parquet(path)
    assert lazy.schema["labels"] == pl.List(pl.String)
    assert lazy["objects"].list.len().sum() == boxes
    assert lazy.schema["modified_at"] == pl.Datetime("us", "UTC")

    found = duckdb.sql(f"SELECT sum(len(objects)), count(*) FROM '{path}'").fetchall()[0]
    assert found == (boxes, len(rows)), found
    kinds = duckdb.sql(f"SELECT typeof(labels), typeof(modified_at) FROM '{path}' LIMIT 1").fetchall()[0]
    assert kinds == ("VARCHAR[]", "TIMESTAMP WITH TIME ZONE"), kinds


def check_images(folder: str) -> int:
    """Loads the folder by `datasets`, and returns the number of images."""
    loaded = datasets.load_dataset(folder)
    assert list(loaded) == ["train"], f"one split: {loaded}"
    images = loaded["train"]
    features = images.features
    assert isinstance(features["image"], datasets.Image), features
    assert features["labels"] == datasets.List(datasets.Value("string")), features
    bbox = features["objects"].feature["bbox"]
    assert bbox == datasets.List(datasets.Value("float64")), features
    for row in images:
        assert row["image"].size == (row["width"], row["height"])
        for found in row["objects"]:
            left, top, width, height = found["bbox"]
            assert 0 <= left and left + width <= row["width"] + 0.01
            assert 0 <= top and top + height <= row["height"] + 0.01
    assert any(row["caption"] for row in images) and any(row["objects"] for row in images)
    assert any(not row["labels"] for row in images), "an image without labels is included"
    return len(images)


def main() -> None:
    folder = Path(sys.argv[1])
    table = folder / "metadata.parquet"
    if table.exists():
        check_table(table)
    print(check_images(str(folder)), "images")


main()
