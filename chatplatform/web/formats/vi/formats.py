"""The format of times on pages, with their time zone."""

DATETIME_FORMAT = r"H:i e \N\g\à\y d-n-Y"
