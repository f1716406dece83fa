"""The words of a language, by lists of those that films and books use."""

import gzip
import json
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatplatform.call_once import call_once

# So many of the commonest words say nothing about a topic.
_COMMON = 850
# The same for Vietnamese, which has no list here: syllables of grammar, of manners, of numbers and
# of trade.
_VIETNAMESE_COMMON = frozenset(
    """
    và của là có không được cho các những một với trong đến từ tại ở trên dưới này đó kia thì mà
    nếu khi để bị sẽ đã đang cũng như hoặc hay vì nên phải cần thể ra vào lên xuống đi lại về theo
    bạn tôi mình chúng ta anh chị em ông bà quý khách người họ nó ạ dạ vâng nhé rất quá lắm nhiều
    ít hơn nhất mỗi mọi cả chỉ vẫn còn rồi nữa thêm sau trước ngoài giữa bằng qua tới đây đấy ấy gì
    nào sao bao nhiêu mấy đâu rằng tuy nhưng do nhờ cùng luôn đều bởi vậy thế làm việc muốn biết
    hãy đừng chưa thường ngay gồm hai ba bốn sáu bảy tám chín mười trăm nghìn ngàn triệu ngày giờ
    phút tháng năm tuần tuổi lần lúc đồng số giá tiền hàng cái chiếc con loại riêng tính kể áp
    vui lòng xin lỗi cảm cám ơn giúp hỗ trợ thông tin liên hệ nhắn chúc vụ phục dịch hỏi đáp trả
    lời sự tiện bất tốt lành mong đón tiếp tiếc chào sẵn dùng sử dụng kỳ nghỉ vẻ hân hạnh chuyến
    bé bố mẹ cha nhà đủ lớn nhỏ mở mới cũ cao thấp dài ngắn thời gian đưa lấy gọi tìm nói xem nghe
    thấy biết tên nước máy mua bán gửi giữ đổi đặt kèm nhanh chậm sớm muộn hôm nay mai kỹ đúng sai
    bình an trân trọng quan tâm hài thắc mắc kiên nhẫn phiền mến hẹn gặp chi tiết
    """.split()  # noqa: SIM905 - easier to read
)


class _List(NamedTuple):
    # Sorted hashes: some MB less than the words themselves.
    hashes: NDArray[np.int64]
    common: frozenset[str]

    def __contains__(self, word: object) -> bool:
        value = hash(word)
        place = int(np.searchsorted(self.hashes, value))
        return place < len(self.hashes) and int(self.hashes[place]) == value


def _loader(language: str) -> call_once[_List]:
    @call_once
    def load() -> _List:
        # Takes 0.1 to 0.7 seconds, and a few MB stay.
        path = resources.files("spellchecker") / "resources" / f"{language}.json.gz"
        times: dict[str, int] = json.loads(gzip.decompress(path.read_bytes()))
        hashes = np.fromiter(map(hash, times), np.int64, len(times))
        common = sorted(times, key=lambda word: -times[word])[:_COMMON]
        return _List(np.sort(hashes), frozenset(common))

    return load


_LISTS = {code: _loader(code) for code in ("ar", "de", "en", "es", "fr", "it", "nl", "pt", "ru")}
LANGUAGES = frozenset(_LISTS)


def is_word(word: str, language: str) -> bool:
    """Whether the language has the word; False for a language without a list."""
    return language in _LISTS and word.lower() in _LISTS[language]()


def is_telling(word: str, language: str) -> bool:
    """Whether a word says what a text is about: it is none of the commonest of its language.

    Of Vietnamese it asks for a syllable. False for a language of which nothing is known.
    """
    if language == "vi":
        return word.lower() not in _VIETNAMESE_COMMON
    return language in _LISTS and word.lower() not in _LISTS[language]().common
