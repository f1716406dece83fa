"""How static files are stored for service: compressed, and named by the hash of their content."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedModules(CompressedManifestStaticFilesStorage):
    """Names in the imports of scripts are hashed too: a browser that kept a script for ever never
    mixes it with one of another version."""

    support_js_module_import_aggregation = True
