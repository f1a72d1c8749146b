"""Numbering the texts of a column: the same text has the same number in every block of a file.

Texts are as Arrow keeps them: all bytes one after the other, and where each text begins. A text of
up to eight bytes is one word, which is all that has to be compared; longer ones have a hash as
their word, and their bytes are compared as well.
"""

import numpy as np

from colonnade.kernels.compiled import entry, part


@part
def _word(data, begin, end):
    """The bytes of a short text as one number, or the hash of a long one."""
    word = np.uint64(0)
    if end - begin <= 8:
        for i in range(begin, end):
            word = (word << np.uint64(8)) | np.uint64(data[i])
        return word
    for i in range(begin, end):
        word = (word ^ np.uint64(data[i])) * np.uint64(0x9E3779B97F4A7C15)
        word ^= word >> np.uint64(29)
    return word


@part
def _slot(word, length, mask):
    mixed = (word ^ (np.uint64(length) << np.uint64(56))) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed >> np.uint64(32)) & mask


@entry
def number_texts(offsets, data, first, slots, words, spans, arena, found, numbers, rows):
    """Number the texts from row `first` on; return the row at which room ran out, or their number.

    Parameters
    ----------
    offsets : array of int32 [row + 1]
    data : array of uint8
    slots : array of int32, a power of two
        Open-addressing table of numbers; -1 is free. At most half of it is used.
    words, spans, rows : arrays [text], [text, 2], [text]
        Word of each distinct text, where its bytes begin and end in `arena`, and how many rows
        have it.
    arena : array of uint8
        Bytes of all distinct texts.
    found : array of int64 [2]
        Number of distinct texts, and bytes used in `arena`; brought up to date.
    numbers : array of int32 [row]
        The result.
    """
    mask = np.int64(slots.size - 1)
    for row in range(first, numbers.size):
        begin, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
        length = end - begin
        word = _word(data, begin, end)
        slot = _slot(word, length, mask)
        number = np.int64(slots[slot])
        while number >= 0:
            low = spans[number, 0]
            same = words[number] == word and spans[number, 1] - low == length
            if same and length > 8:
                for i in range(length):
                    same &= arena[low + i] == data[begin + i]
            if same:
                break
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
            spans[number, 1] = used + length
            slots[slot] = number
            found[0] = number + 1
            found[1] = used + length
        numbers[row] = number
        rows[number] += 1
    return numbers.size


@entry
def place_texts(words, spans, found, slots):
    """Fill the slots of a larger table with the texts that are known; all slots are free."""
    mask = np.int64(slots.size - 1)
    for number in range(found[0]):
        slot = _slot(words[number], spans[number, 1] - spans[number, 0], mask)
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number
