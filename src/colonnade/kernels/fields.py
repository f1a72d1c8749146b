"""Splitting lines of text into fields: where each begins and ends.

Eight bytes are looked at together: a byte is the one looked for where their difference is zero, and
the lowest of such bytes is found by arithmetic. What may be read in several ways is not split.
"""

import sys

import numpy as np
from numba import carray

from colonnade.kernels.compiled import entry, part
from colonnade.kernels.counting import pointer

# Bytes after the text that may be looked at.
PADDING = 16
# Otherwise the first byte is not the lowest of a number, and no text is split.
SPLITS = sys.byteorder == "little"

_ONES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_QUOTE, _LINE, _RETURN = np.uint8(34), np.uint8(10), np.uint8(13)


@part
def _same(eight, repeated):
    """Mark the bytes that two numbers share; above the lowest of them a mark may be wrong."""
    other = eight ^ repeated
    return (other - _ONES) & ~other


@part
def _lowest(marks):
    """Position of the lowest byte that is marked."""
    below = (marks & (np.uint64(0) - marks)) - np.uint64(1)
    return np.int64(((below & _ONES) * _ONES) >> np.uint64(56)) - 1


@part
def _end(address, begin, first, second):
    """Position of the first of two bytes, given eight times each, from a position on."""
    at = begin
    marks = np.uint64(0)
    while marks == 0:
        eight = carray(pointer(address + at), (1,), np.uint64)[0]
        marks = (_same(eight, first) | _same(eight, second)) & _HIGH
        at += 8
    return at - 8 + _lowest(marks)


@entry
def what_is_in(data, size):
    """Say whether text has quotes, NUL bytes or returns (1), and letters beyond ASCII (2)."""
    special, beyond = False, False
    for i in range(size):
        special |= (data[i] == 34) | (data[i] == 0) | (data[i] == 13)
        beyond |= data[i] > 127
    return np.int64(special) + 2 * np.int64(beyond)


@entry
def has_quote_or_nul(data):
    """Whether such a byte is anywhere: all are looked at, sixteen and more at a time."""
    found = False
    for i in range(data.size):
        found |= (data[i] == 34) | (data[i] == 0)
    return found


@entry
def join_texts(begins, ends, data, offsets, joined):
    """Put texts one after the other; the array of `offsets` has a place for each and one more."""
    to = 0
    for row in range(begins.size):
        offsets[row] = to
        for i in range(begins[row], ends[row]):
            joined[to] = data[i]
            to += 1
    offsets[begins.size] = to


@entry
def split_fields(data, size, separator, places, special, begins, ends):
    """Split lines into fields; return how many rows there are, or -1 if that cannot be told.

    Parameters
    ----------
    data : array of uint8
        Whole lines, and `PADDING` more bytes.
    size : int
        Bytes of the lines; the last of them is a line break.
    separator : uint8
    places : array of int64 [column]
        Where the fields of each column go; -1 if they are not wanted.
    special : bool
        Whether there may be quotes, NUL bytes and returns. In quotes around a whole field, all
        but quotes and line breaks is text; elsewhere none of these is.
    begins, ends : arrays of int32 [place, row]
        The result.
    """
    address = np.int64(data.ctypes.data)
    between, line = np.uint64(separator) * _ONES, np.uint64(_LINE) * _ONES
    quote = np.uint64(_QUOTE) * _ONES
    last = places.size - 1
    at, row = np.int64(0), np.int64(0)
    while at < size:
        if data[at] == _LINE:  # an empty line
            at += 1
            continue
        if special and data[at] == _RETURN and data[at + 1] == _LINE:
            at += 2
            continue
        if row == begins.shape[1]:
            return -1
        for column in range(places.size):
            begin = at
            if special and data[at] == _QUOTE:
                begin = at + 1
                end = _end(address, begin, quote, line)
                if data[end] != _QUOTE:
                    return -1
                at = end + 1
            else:
                end = _end(address, begin, between, line)
                at = end
                if special:
                    if end > begin and data[end - 1] == _RETURN and data[end] == _LINE:
                        end -= 1
                    for i in range(begin, end):
                        if data[i] == _QUOTE or data[i] == 0 or data[i] == _RETURN:
                            return -1
            if special and column == last and data[at] == _RETURN:
                at += 1
            if data[at] != (_LINE if column == last else separator):
                return -1
            if places[column] >= 0:
                begins[places[column], row] = begin
                ends[places[column], row] = end
            at += 1
        row += 1
    return row
