"""Facts in and out: the fact line and its bulk reader, CSV and Parquet."""
