"""Good tables made ragged, one line at a time."""

from __future__ import annotations

from collections.abc import Iterator


def ragged(data: bytes, separator: str = ",") -> Iterator[tuple[bytes, str]]:
    """Yield tables with a line that was cut off, or has a separator too many, amid the file and at its end.

    With each comes what the error has to say, as a regular expression.
    """
    mark = separator.encode()
    lines = data.removesuffix(b"\n").split(b"\n")
    width = lines[0].count(mark) + 1
    for place in (len(lines) // 2, len(lines) - 1):
        line = lines[place]
        assert place > 0
        assert line.count(mark) == width - 1
        for changed, cells in (
            (line[: line.rindex(mark)], width - 1),
            (line.replace(mark, 2 * mark, 1), width + 1),
        ):
            said = rf":{place + 1}: {cells} cells under {width} column names\n.*Download it again"
            yield b"\n".join([*lines[:place], changed, *lines[place + 1 :]]), said
