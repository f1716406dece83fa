"""Stores static files compressed and named by the hash of their content."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedModules(CompressedManifestStaticFilesStorage):
    """Also hashes the names in the imports of scripts, so that a browser never mixes cached scripts
    of different versions."""

    support_js_module_import_aggregation = True
