"""Numbers in words, of the languages that the word lists know and of Vietnamese."""

import pytest

from bots.knowledge import number_words


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "twenty-seven euros, thirty dollars", {27, 30}),
        ("en", "from seven to half past eleven", {7, 11}),
        ("en", "two hundred and fifty, three thousand two hundred", {250, 3200}),
        ("en", "two and three, ten, a dozen", {2, 3, 10, 12}),
        ("en", "One of them is a room, once a day, due to someone.", set()),
        ("en", "cents, an air vent, Sept., DOS, Trent, mila, tien", set()),
        (None, "thirty dollars", {30}),
        ("de", "dreißig Euro, siebenundzwanzig, zweihundertfünfzig", {30, 27, 250}),
        ("de", "achtzehn, neunzehn, elf, zweitausend", {18, 19, 11, 2000}),
        ("de", "Ein Parkplatz sei vielleicht achtsam zu nutzen, seien Sie nett.", set()),
        ("fr", "vingt-sept, quatre-vingt-dix, soixante-quinze, vingt et un", {27, 90, 75, 21}),
        ("fr", "deux cent cinquante euros, dix-sept, un pour cent", {250, 17}),
        ("es", "treinta y cinco, veintisiete, once, doscientos", {35, 27, 11, 200}),
        ("it", "ventisette, trentuno, due, duecento", {27, 31, 2, 200}),
        ("nl", "zevenentwintig, tweeëntwintig, vijftien", {27, 22, 15}),
        ("nl", "Ten minste een kamer.", set()),
        ("pt", "vinte e sete, dois mil", {27, 2000}),
        ("ru", "двадцать семь, двести пятьдесят", {27, 250}),
        ("ar", "سبعة وعشرون يورو", {27}),
        ("vi", "hai mươi bảy, ba mươi, năm mươi, hai trăm nghìn", {27, 30, 50, 200_000}),
        ("vi", "mười lăm, ba giờ, thứ hai và thứ năm, cả hai, mỗi năm", {15, 3}),
    ],
)
def test_numbers_are_read_as_a_whole(language, text, expected):
    assert number_words.values(text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Six months, two hundred and five days", "6 months, 205 days"),
        ("en", "a thirty-minute walk, two and three, one", "a 30-minute walk, 2 and 3, one"),
        ("de", "zehn Werktage und einundzwanzig Tage", "10 werktage und 21 tage"),
        ("vi", "hai mươi bảy ngày, ba giờ", "27 ngày, 3 giờ"),
        (None, "ten days", "ten days"),
    ],
)
def test_numbers_are_written_in_digits(language, text, expected):
    assert number_words.in_digits(text, language) == expected
