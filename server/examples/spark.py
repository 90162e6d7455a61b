#!/usr/bin/env python3
"""Estimates from reports in Parquet with Spark, at any size. The output has exactly the bytes
that `hushbin estimate` prints for the same reports.

    spark-submit spark.py --task settings.json --reports reports.parquet > estimates.json

A separate process folds each partition, one report at a time: `hushbin estimate --format
totals`. Each process returns one line of partial totals to the driver. There, `hushbin estimate`
adds these lines and estimates. `--reports` is a path for `spark.read.parquet`: files of
`hushbin journal export --format parquet`, or a table with the same column `report`. The program
and the task file must be at the same paths on all workers.

If Spark repeats a task, because a worker was lost or slow, the result is the same line. Spark
uses one of them, and `hushbin estimate` would refuse a second.
"""

import argparse
import shlex
import subprocess
import sys

from pyspark.sql import SparkSession


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--task", required=True, help="task file, or an answer of GET /tasks/{id}")
    parser.add_argument("--reports", required=True, nargs="+", help="Parquet with a column report")
    parser.add_argument("--hushbin", default="hushbin", help="the program, on every worker")
    parser.add_argument(
        "rest", nargs="*", help="after --: what hushbin estimate takes, such as --question theme"
    )
    return parser.parse_args()


def partials(spark, options):
    """Returns a line of partial totals for each partition."""
    fold = [options.hushbin, "estimate", "--task", options.task, "--input", "hex"]
    fold += ["--format", "totals"]
    reports = spark.read.parquet(*options.reports).select("report").rdd
    # A process that fails ends the job. Its log contains the reason.
    return reports.map(lambda row: row.report).pipe(shlex.join(fold), checkCode=True).collect()


def main():
    options = arguments()
    spark = SparkSession.builder.appName("hushbin").getOrCreate()
    lines = partials(spark, options)
    spark.stop()
    estimate = [options.hushbin, "estimate", "--task", options.task, "--input", "totals"]
    estimate += ["--format", "json", *options.rest]
    estimated = subprocess.run(estimate, input="\n".join(lines), text=True, check=False)
    sys.exit(estimated.returncode)


if __name__ == "__main__":
    main()
