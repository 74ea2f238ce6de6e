"""One POST with one deadline over all of it: the name looked up, connecting, TLS, sending, every byte of the answer.

A server that drips a byte a second is no faster for it than one that says nothing. Redirects are not followed: the key
would travel with them.
"""

from __future__ import annotations

import io
import ipaddress
import socket
import ssl
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, IncompleteRead
from threading import Lock, Thread
from typing import Any
from urllib.parse import SplitResult

LARGEST = 8 << 20  # bytes of an answer
_CHUNK = 1 << 16


class TooLarge(Exception):
    """The answer has more than `LARGEST` bytes."""


@dataclass(frozen=True)
class Response:
    """What came back. `redirect`, `retry_after`: these headers, if there are any."""

    status: int
    body: bytes
    retry_after: str | None
    redirect: str | None


class Open:
    """The sockets that are in use, so that all can be ended from another thread."""

    def __init__(self) -> None:
        self._sockets: set[socket.socket] = set()
        self._lock = Lock()

    def add(self, one: socket.socket) -> None:
        with self._lock:
            self._sockets.add(one)

    def remove(self, one: socket.socket) -> None:
        with self._lock:
            self._sockets.discard(one)

    def end(self) -> None:
        with self._lock:
            for one in self._sockets:
                with suppress(OSError):
                    socket.socket.shutdown(one, socket.SHUT_RDWR)  # of TLS sockets, too, the one below


def post(url: SplitResult, path: str, body: bytes, headers: dict[str, str], timeout: float, sockets: Open) -> Response:
    """The answer to a POST; OSError (TimeoutError), HTTPException or TooLarge where there is none."""
    connection = _Connection(url, time.monotonic() + timeout, sockets)
    with closing(connection):
        connection.request("POST", path, body, headers)
        with closing(connection.getresponse()) as response:
            data = bytearray()
            while chunk := response.read(_CHUNK):
                data += chunk
                if len(data) > LARGEST:
                    raise TooLarge
            if response.length:  # what was announced and did not come
                raise IncompleteRead(b"", response.length)
            head = response.headers
            return Response(response.status, bytes(data), head.get("Retry-After"), head.get("Location"))


class _Connection(HTTPConnection):
    """Over a socket that knows the deadline."""

    def __init__(self, url: SplitResult, deadline: float, sockets: Open):
        self._secure = url.scheme == "https"
        super().__init__(str(url.hostname), url.port or (443 if self._secure else 80))
        self._deadline, self._sockets = deadline, sockets

    def connect(self) -> None:
        plain = _connected(self.host, self.port, self._deadline)
        try:
            plain.settimeout(_left(self._deadline))
            used = ssl.create_default_context().wrap_socket(plain, server_hostname=self.host) if self._secure else plain
        except BaseException:
            plain.close()
            raise
        self.sock: Any = _Timed(used, self._deadline, self._sockets)


class _Timed:
    """As much of a socket as http.client uses; waits no longer than until the deadline."""

    def __init__(self, inner: socket.socket, deadline: float, sockets: Open):
        self._inner, self._deadline, self._sockets = inner, deadline, sockets
        sockets.add(inner)

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._inner.settimeout(_left(self._deadline))
            view = view[self._inner.send(view[:_CHUNK]) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self._inner, self._deadline))

    def close(self) -> None:
        self._sockets.remove(self._inner)
        self._inner.close()


class _Incoming(io.RawIOBase):
    """The bytes that arrive before the deadline."""

    def __init__(self, inner: socket.socket, deadline: float):
        self._inner, self._deadline = inner, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._inner.settimeout(_left(self._deadline))
        return self._inner.recv_into(buffer)


def _left(deadline: float) -> float:
    """Seconds; TimeoutError when there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


def _connected(host: str, port: int, deadline: float) -> socket.socket:
    """A socket to one of the addresses of a host, tried in order."""
    failed: OSError | None = None
    for family, kind, protocol, _, address in _addresses(host, port, deadline):
        one = socket.socket(family, kind, protocol)
        try:
            one.settimeout(_left(deadline))
            one.connect(address)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return one
        except OSError as error:
            failed = error
            one.close()
    raise failed or OSError("the host has no address")


def _addresses(host: str, port: int, deadline: float) -> list[Any]:
    """Looking up a name cannot be interrupted, so a thread does it that may be left behind."""
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    found: list[Any] = []

    def look_up() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.append(OSError(str(error)))

    thread = Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(_left(deadline))
    if not found:
        raise TimeoutError("timed out looking up the host")
    if isinstance(found[0], OSError):
        raise found[0]
    return list(found[0])


FAILURES = (OSError, HTTPException, ValueError)
"""What `post` raises where there is no answer; ValueError: a header that is none."""
