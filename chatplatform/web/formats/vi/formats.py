"""How pages write times: with their zone."""

DATETIME_FORMAT = r"H:i e \N\g\à\y d-n-Y"
