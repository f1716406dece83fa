"""Personal data taken out of a text before it leaves for a model of somebody else.

Addresses, telephone and card numbers become [email], [phone] and [card]. Names and street
addresses stay: nothing here recognises them.
"""

import re

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_DIGITS = re.compile(r"(?<![\w.,])\+?\(?\d(?:[ .()\-]{0,2}\d){7,18}(?!\w)")
_DATE = re.compile(r"\d{1,4}[-./ ]\d{1,2}[-./ ]\d{1,4}$")
_AMOUNT = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+$")


def mask(text: str) -> str:
    """The text with addresses and numbers of people replaced by their kind."""
    return _DIGITS.sub(_number, _EMAIL.sub("[email]", text))


def _number(found: re.Match[str]) -> str:
    written = found[0]
    if _DATE.match(written) or _AMOUNT.match(written):
        return written
    digits = [int(char) for char in written if char.isdecimal()]
    if 13 <= len(digits) <= 19 and _is_card(digits):
        return "[card]"
    # Eight digits alone are as often a day or an order; a long order's number is lost, too.
    is_phone = len(digits) <= 15 and (len(digits) > 8 or not written.isdecimal())
    return "[phone]" if is_phone else written


def _is_card(digits: list[int]) -> bool:
    """The check sum that card numbers carry (ISO/IEC 7812-1)."""
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
