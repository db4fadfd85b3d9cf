"""The pipeline on Spark: records into tables, and the same blocks over them.

Nothing else imports pyspark. Nothing here uses a SparkContext, the JVM or an RDD, so that
all of it works through Spark Connect too.
"""
