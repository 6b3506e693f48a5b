"""Reads H.264 (Annex B, one slice a frame) and writes it with closed captions (CEA-608 in ATSC A/53 messages).

    captions.py FPS LINE...

Each line is shown for a second as roll-up captions in CC1.
"""
import re
import sys


def parity(byte):
    return byte | 0x80 if bin(byte).count("1") % 2 == 0 else byte


def pairs(lines, fps):
    """The pair of field 1 of each frame."""
    result = []
    for number, line in enumerate(lines):
        line += " " * (len(line) % 2)
        # Roll-up of two rows, carriage return, row 15; each twice.
        codes = [c for code in ((0x14, 0x25), (0x14, 0x2D), (0x14, 0x70)) for c in (code, code)]
        codes += [(ord(a), ord(b)) for a, b in zip(line[::2], line[1::2])]
        result += [(0, 0)] * max(0, number * fps - len(result)) + codes
    return result


def unit(pair):
    data = [0xB5, 0x00, 0x31, *b"GA94", 3, 0x40 | 2, 0xFF]
    data += [0xFC, parity(pair[0]), parity(pair[1]), 0xFD, 0x80, 0x80, 0xFF]
    return bytes([0, 0, 0, 1, 6, 4, len(data), *data, 0x80])


def main():
    captions = iter(pairs(sys.argv[2:], int(sys.argv[1])))
    stream = sys.stdin.buffer.read()
    starts = [match.start() for match in re.finditer(b"\0\0\1", stream)] + [len(stream)]
    for start, end in zip(starts, starts[1:]):
        if stream[start + 3] & 0x1F in (1, 5):
            sys.stdout.buffer.write(unit(next(captions, (0, 0))))
        # The zero byte that may precede a start code belongs to the next unit.
        sys.stdout.buffer.write(b"\0" + stream[start:end].rstrip(b"\0"))


main()
