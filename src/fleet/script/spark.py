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
    spark = SparkSession.builder.appName("rtl fleet").getOrCreate()
    for table in TABLES:
        files = spark.read.option("basePath", DIR).option("mergeSchema", "true")
        rows = files.parquet(*[f"{DIR}/{folder}/{table}.parquet" for folder in FOLDERS])
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
