"""lacec record: make, sign, read and check records."""
