#!/usr/bin/env python3
"""Estimates from reports that lie in Parquet, by Spark: what `hushbin estimate` prints of the
same reports, to the last byte, at any size.

    spark-submit spark.py --task settings.json --reports reports.parquet > estimates.json

Every partition is folded by a process of its own, which sees one report at a time: `hushbin
estimate --format totals`. What comes back to the driver is a line of partial totals from each.
`hushbin estimate` adds these and estimates. `--reports` is whatever `spark.read.parquet` takes: files of
`hushbin journal export --format parquet`, or a table that has their column `report`. The
program and the task file have to be at the same paths on all workers.

A task that Spark does again, after a worker was lost or because it was slow, gives the same
line; Spark takes one of them, and `hushbin estimate` would refuse a second.
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
    """A line of partial totals for each partition."""
    fold = [options.hushbin, "estimate", "--task", options.task, "--input", "hex"]
    fold += ["--format", "totals"]
    reports = spark.read.parquet(*options.reports).select("report").rdd
    # A process that fails ends the job: what it could not read is in its log.
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
