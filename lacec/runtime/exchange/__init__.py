"""What answers the questions of an exchange: evaluation, cursors and recordings."""
