r"""A server that sends what a script says, byte by byte: for faults below HTTP that no well-behaved server has.

A script is told the number of the request (from 0) and the request itself, and yields what happens: bytes are sent,
numbers are seconds to wait, `FINISH` ends this side of the connection, `RESET` breaks it off::

    def script(number, request):
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
        yield FINISH

    with RawServer(script) as server:
        ...  # ask server.url
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

FINISH: Final = "finish"
"""Send no more, and go on reading: the connection is half closed."""
RESET: Final = "reset"
"""Break the connection off."""
Script = Callable[[int, "RawRequest"], Iterable[bytes | float | str]]


@dataclass(frozen=True, slots=True)
class RawRequest:
    """What came in: the first line, headers by their names in lower case, and the body."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path that is asked for."""
        return self.line.split(" ")[1]


class RawServer:
    """Plays a script, each connection in a thread of its own.

    Parameters
    ----------
    script : callable
        From a request's number and the request to what happens.
    tls : ssl.SSLContext or None
        Makes connections secure.
    """

    def __init__(self, script: Script, *, tls: ssl.SSLContext | None = None) -> None:
        self._script = script
        self._tls = tls
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self.requests: list[RawRequest] = []

    @property
    def url(self) -> str:
        """Base URL, to be given as ``base_url``."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A thread that waits in accept() keeps the socket alive unless it is shut down first.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)
        # The client's leaving is what is tested.
        with contextlib.suppress(OSError, StopIteration):
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            while (request := _read(connection)) is not None:
                with self._lock:
                    number = len(self.requests)
                    self.requests.append(request)
                if not _play(connection, self._script(number, request)):
                    break
        with self._lock:
            self._open.discard(connection)
        connection.close()


def _play(connection: socket.socket, acts: Iterable[bytes | float | str]) -> bool:
    """Do what a script says; return whether another request may follow."""
    for act in acts:
        if isinstance(act, bytes):
            connection.sendall(act)
        elif isinstance(act, float | int):
            time.sleep(act)
        elif act == FINISH:
            connection.shutdown(socket.SHUT_WR)
        else:
            # No lingering: the other side gets a reset in place of an end.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
    return True


def _read(connection: socket.socket) -> RawRequest | None:
    """Read a request; None at the connection's end."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
        if not data[:1].isalpha():
            # Not HTTP: the beginning of TLS, say.
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            return None
    head, _, body = data.partition(b"\r\n\r\n")
    line, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (part.partition(":") for part in rest)}
    while len(body) < int(headers.get("content-length", "0")):
        more = connection.recv(65536)
        if not more:
            return None
        body += more
    return RawRequest(line, headers, body)
