"""Numbering the texts of a column: the same text has the same number in every block of a file.

Texts are bytes among others, and where each text begins and ends. A text of
up to eight bytes is one word, which is all that has to be compared; longer ones have a hash as
their word, and their bytes are compared as well.
"""

import sys

import numpy as np
from numba import carray

from colonnade.kernels.compiled import entry, part
from colonnade.kernels.counting import pointer

# Eight bytes are read at once where the first is the lowest of a number.
_LITTLE = sys.byteorder == "little"
# The lowest bytes of a word, as many as a text has.
_MASKS = np.array([(1 << (8 * length)) - 1 for length in range(9)], np.uint64)


@part
def _bytes_at(data, begin, length):
    """Up to eight bytes as one number, the first the lowest."""
    if _LITTLE and begin + 8 <= data.size:
        word = carray(pointer(np.int64(data.ctypes.data) + begin), (1,), np.uint64)[0]
        if length < 8:
            word &= (np.uint64(1) << np.uint64(8 * length)) - np.uint64(1)
        return word
    word = np.uint64(0)
    for i in range(length):
        word |= np.uint64(data[begin + i]) << np.uint64(8 * i)
    return word


@part
def _word(data, begin, end):
    """The bytes of a short text as one number, or the hash of a long one."""
    word = _bytes_at(data, begin, min(end - begin, 8))
    for at in range(begin + 8, end, 8):
        word = (word ^ (word >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        word ^= _bytes_at(data, at, min(end - at, 8))
    return word


@part
def _slot(word, length, shift):
    # By one multiplication, whose highest bits all others reach: texts often differ in their last
    # byte only, the highest of the word.
    mixed = (word ^ np.uint64(length)) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed >> shift)


@part
def _shift(slots):
    """Bits to leave out of a hash, so that it is the position of a slot."""
    bits = 0
    while (1 << bits) < slots.size:
        bits += 1
    return np.uint64(64 - bits)


@part
def _is_long_text(data, begin, arena, low, length):
    """Whether the bytes of a long text, whose hash is that of another, are the same."""
    same = True
    for i in range(length):
        same &= arena[low + i] == data[begin + i]
    return same


@entry
def number_texts(begins, ends, data, first, slots, words, spans, arena, found, numbers, rows):
    """Number the texts from row `first` on; return the row at which room ran out, or their number.

    Parameters
    ----------
    begins, ends : arrays of int32 [row]
    data : array of uint8
    slots : array of int32, a power of two
        Open-addressing table of numbers; -1 is free. At most half of it is used.
    words, spans, rows : arrays [text], [text, 2], [text]
        Word of each distinct text, where its bytes begin in `arena` and how many they are, and how
        many rows have it.
    arena : array of uint8
        Bytes of all distinct texts.
    found : array of int64 [2]
        Number of distinct texts, and bytes used in `arena`; brought up to date.
    numbers : array of int32 [row]
        The result.
    """
    mask, shift = np.int64(slots.size - 1), _shift(slots)
    address, last = np.int64(data.ctypes.data), data.size - 8
    for row in range(first, numbers.size):
        begin, end = np.int64(begins[row]), np.int64(ends[row])
        length = end - begin
        if _LITTLE and length <= 8 and begin <= last:  # nearly all texts
            word = carray(pointer(address + begin), (1,), np.uint64)[0] & _MASKS[length]
        else:
            word = _word(data, begin, end)
        slot = _slot(word, length, shift)
        number = np.int64(slots[slot])
        while number >= 0 and not (
            words[number] == word
            and spans[number, 1] == length
            and (length <= 8 or _is_long_text(data, begin, arena, spans[number, 0], length))
        ):
            slot = (slot + 1) & mask
            number = np.int64(slots[slot])
        if number < 0:
            number = found[0]
            used = found[1]
            if number == words.size or used + length > arena.size or 2 * number >= slots.size:
                return row
            for i in range(length):
                arena[used + i] = data[begin + i]
            words[number] = word
            spans[number, 0] = used
            spans[number, 1] = length
            slots[slot] = number
            found[0] = number + 1
            found[1] = used + length
        numbers[row] = number
        rows[number] += 1
    return numbers.size


@entry
def place_texts(words, spans, found, slots):
    """Fill the slots of a larger table with the texts that are known; all slots are free."""
    mask, shift = np.int64(slots.size - 1), _shift(slots)
    for number in range(found[0]):
        slot = _slot(words[number], spans[number, 1], shift)
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number
