#!/usr/bin/env python3
"""Saves reports.parquet again, with each tool as its users do: see README.md.

    pip install pandas pyarrow fastparquet polars duckdb pyspark
    python3 save.py
"""

import shutil
from pathlib import Path

import duckdb
import fastparquet
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

ORIGINAL = "reports.parquet"
SAVED, REFUSED = Path("saved"), Path("refused")


def pandas():
    frame = pd.read_parquet(ORIGINAL)
    for codec in (None, "snappy", "gzip", "brotli", "lz4", "zstd"):
        frame.to_parquet(SAVED / f"pandas-{codec}.parquet", compression=codec)
    frame.sample(frac=1, random_state=1).to_parquet(SAVED / "pandas-shuffled.parquet")
    frame.assign(question=frame.question.astype("category"), extra=1.5)[
        ["report", "extra", "bucket", "seed", "question", "batch"]
    ].to_parquet(SAVED / "pandas-category.parquet")
    # Numbers as texts, and gaps as doubles that are no numbers.
    frame = pd.read_json("reports.json", lines=True, dtype=False)
    frame.to_parquet(SAVED / "pandas-json.parquet")


def with_fastparquet():
    frame = pd.read_parquet(ORIGINAL)
    for codec in ("UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "LZ4", "ZSTD"):
        path = SAVED / f"fastparquet-{codec.lower()}.parquet"
        fastparquet.write(path, frame, compression=codec, write_index=True)


def with_polars():
    frame = pl.read_parquet(ORIGINAL)
    for codec in ("uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd"):
        frame.write_parquet(SAVED / f"polars-{codec}.parquet", compression=codec)
    pl.read_csv("reports.csv").with_columns(pl.col("question").cast(pl.Categorical)).write_parquet(
        SAVED / "polars-csv.parquet"
    )


def with_duckdb():
    for codec in ("uncompressed", "snappy", "gzip", "brotli", "lz4_raw", "zstd"):
        path = SAVED / f"duckdb-{codec}.parquet"
        how = f"format parquet, compression {codec}, parquet_version v2"
        duckdb.sql(f"copy (select * from '{ORIGINAL}') to '{path}' ({how})")
    path = SAVED / "duckdb-json.parquet"
    duckdb.sql(f"copy (select * from 'reports.json') to '{path}' (format parquet)")


def arrow():
    table = pq.read_table(ORIGINAL)
    pq.write_table(table, SAVED / "pyarrow-footer.parquet")
    types = [pa.int8(), pa.large_binary(), pa.decimal128(20, 0), pa.int16(), pa.large_string()]
    fields = [pa.field(name, type) for name, type in zip(table.column_names, types)]
    cast = table.replace_schema_metadata().cast(pa.schema(fields))
    cast = cast.add_column(0, "nested", pa.array([[{"seed": 1}]] * len(cast)))
    pq.write_table(cast, SAVED / "pyarrow-cast.parquet", store_schema=False)
    encodings = {"seed": "BYTE_STREAM_SPLIT", "report": "DELTA_BYTE_ARRAY"}
    pq.write_table(
        table.replace_schema_metadata(),
        SAVED / "pyarrow-v2.parquet",
        use_dictionary=False,
        column_encoding=encodings,
        data_page_version="2.0",
        row_group_size=50,
    )
    refused(table.replace_schema_metadata())


def refused(table):
    def save(name, column, values, type=None):
        index = table.column_names.index(column)
        changed = table.set_column(index, column, pa.array(values, type))
        pq.write_table(changed, REFUSED / f"{name}.parquet")

    table = table.slice(0, 5)
    seeds, reports = table["seed"].to_pylist(), table["report"].to_pylist()
    pq.write_table(table.drop_columns(["seed"]), REFUSED / "no-seed.parquet")
    save("list", "seed", [[seed] for seed in seeds], pa.list_(pa.uint64()))
    save("time", "batch", [1] * 5, pa.timestamp("us"))
    save("flag", "bucket", [True] * 5)
    save("double", "seed", [float(seed) for seed in seeds])
    save("signed", "seed", [*seeds[:3], -1, 1], pa.decimal128(20, 0))
    save("wide", "bucket", [1 << 32] * 5)
    save("null", "report", [*reports[:2], None, *reports[3:]])
    save("bytes", "report", [b"\xff"] * 5)
    save("short", "report", [reports[0][:4], *reports[1:]])


def spark():
    session = SparkSession.builder.appName("save").master("local[1]").getOrCreate()
    frame = session.read.parquet(ORIGINAL).coalesce(1)
    for codec in ("uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "zstd"):
        parts = SAVED / f"spark-{codec}"
        frame.write.option("compression", codec).parquet(str(parts))
        (part,) = parts.glob("*.parquet")
        part.rename(SAVED / f"spark-{codec}.parquet")
        shutil.rmtree(parts)
    session.stop()


for directory in (SAVED, REFUSED):
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
for save in (pandas, with_fastparquet, with_polars, with_duckdb, arrow, spark):
    save()
