"""Hides personal data in texts before they are sent to another company's model.

Email addresses, telephone numbers and card numbers become [email1], [phone2], [card3]. Names and
street addresses are not recognized and remain.
"""

import re

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_DIGITS = re.compile(r"(?<![\w.,])\+?\(?\d(?:[ .()\-]{0,2}\d){7,18}(?!\w)")
_DATE = re.compile(r"\d{1,4}[-./ ]\d{1,2}[-./ ]\d{1,4}$")
_AMOUNT = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+$")


class Mask:
    """Hides personal data in texts, and restores it in what a model writes about them.

    If `is_on` is False, texts stay as they are.
    """

    def __init__(self, *, is_on: bool = True) -> None:
        self._is_on = is_on
        self._hidden: dict[str, str] = {}

    def hide(self, text: str) -> str:
        """Replace email addresses, telephone numbers and card numbers with placeholders."""
        if not self._is_on:
            return text
        text = _EMAIL.sub(lambda found: self._placeholder("email", found[0]), text)
        return _DIGITS.sub(self._number, text)

    def reveal(self, text: str) -> str:
        """Replace the placeholders in a text with what they hide."""
        for original, placeholder in self._hidden.items():
            text = text.replace(placeholder, original)
        return text

    def _placeholder(self, kind: str, original: str) -> str:
        return self._hidden.setdefault(original, f"[{kind}{len(self._hidden) + 1}]")

    def _number(self, found: re.Match[str]) -> str:
        kind = _kind_of_number(found[0])
        return self._placeholder(kind, found[0]) if kind else found[0]


def _kind_of_number(written: str) -> str | None:
    if _DATE.match(written) or _AMOUNT.match(written):
        return None
    digits = [int(char) for char in written if char.isdecimal()]
    if 13 <= len(digits) <= 19 and _passes_luhn(digits):
        return "card"
    # Eight digits without separators may be a date or an order number. Order numbers of 9 to 15
    # digits are hidden as telephone numbers.
    is_phone = len(digits) <= 15 and (len(digits) > 8 or not written.isdecimal())
    return "phone" if is_phone else None


def _passes_luhn(digits: list[int]) -> bool:
    """Whether the last digit is the check digit of a card number (ISO/IEC 7812-1)."""
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
