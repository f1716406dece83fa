"""Codes that only this provider has, beside those of the family in `graph/errors.py`: none yet."""

from channels_app.providers.errors import Kind

KINDS: dict[int, Kind] = {}
