"""Names of languages, which a language model understands better than codes."""

from django.utils.translation import get_language_info


def english_name(code: str) -> str:
    """A language's name in English, such as "Vietnamese"; the code if it is unknown."""
    for spelled in (code.lower(), f"{code.lower()}-hans"):  # Django does not know plain `zh`
        try:
            return str(get_language_info(spelled)["name"])
        except KeyError:
            continue
    return code
