#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the question below of a data set with Spark, and prints the rows as CSV.

    spark-submit THIS
"""
import csv
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

TABLES = ("dispatches", "copies", "calls", "ranges", "processes", "losses", "agents", "counters", "clocks")


def main():
    # names of jobs like 1e3 and 2026-11-30 are no numbers and no dates
    inferred = "spark.sql.sources.partitionColumnTypeInference.enabled"
    spark = SparkSession.builder.appName("rtl fleet").config(inferred, "false").getOrCreate()
    numbers = all(folder.split("/")[0].split("=", 1)[1].lstrip("-").isdigit() for folder in FOLDERS)
    # paths alone may be of another file system, such as HDFS
    base = "file://" + DIR
    for table in TABLES:
        files = spark.read.option("basePath", base).option("mergeSchema", "true")
        rows = files.parquet(*[f"{base}/{folder}/{table}.parquet" for folder in FOLDERS])
        rows = rows.withColumn("rank", rows["rank"].cast("bigint"))
        if numbers:
            rows = rows.withColumn("job", rows["job"].cast("bigint"))
        for of, name, kind in ADDED:
            if of == table and name not in rows.columns:
                rows = rows.withColumn(name, lit(None).cast(kind))
        rows.createOrReplaceTempView(table)
    rows = spark.sql("WITH part AS (\n" + PART + "\n)" + (", " + REST[5:] if REST.startswith("WITH ") else "\n" + REST))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(rows.columns)
    out.writerows(rows.collect())
    spark.stop()


if __name__ == "__main__":
    main()
