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
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from threading import Lock, Thread
from typing import Any
from urllib.parse import SplitResult

LARGEST = 8 << 20  # bytes of an answer
_CHUNK = 1 << 16
_GLANCE = 0.1  # seconds between looks whether all is ended


class TooLarge(Exception):
    """The answer has more than `LARGEST` bytes."""


class Unanswered(Exception):
    """The question was sent, so that it may have to be paid for, and no whole answer came back; `late`: in time."""

    def __init__(self, what: str, late: bool):
        super().__init__(what)
        self.late = late


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
        self.ended = False
        self._sockets: set[socket.socket] = set()
        self._lock = Lock()

    @contextmanager
    def using(self, one: socket.socket) -> Iterator[socket.socket]:
        """Until it is done with, or has failed; closes it then."""
        with self._lock:
            if not self.ended:
                self._sockets.add(one)
        try:
            self.check()
            yield one
        finally:
            with self._lock:
                self._sockets.discard(one)
            one.close()

    def check(self) -> None:
        if self.ended:
            raise OSError("ended")

    def end(self) -> None:
        with self._lock:
            self.ended = True
            for one in self._sockets:
                with suppress(OSError):
                    socket.socket.shutdown(one, socket.SHUT_RDWR)  # of TLS sockets, too, the one below


def post(url: SplitResult, path: str, body: bytes, headers: dict[str, str], timeout: float, sockets: Open) -> Response:
    """The answer to a POST; where there is none Unanswered, TooLarge, or, before it was sent, one of FAILURES."""
    deadline = time.monotonic() + timeout
    with _connected(url, deadline, sockets) as link:
        connection = _Connection(url, link, deadline)
        with suppress(BrokenPipeError, ConnectionResetError):  # who refuses a question may not hear it to its end
            connection.request("POST", path, body, headers)
        try:
            return _answer(connection)
        except FAILURES as error:
            raise Unanswered(str(error) or type(error).__name__, late=isinstance(error, TimeoutError)) from None


def _answer(connection: HTTPConnection) -> Response:
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


class _Response(HTTPResponse):
    """Passes over all that only says that an answer will come (103 Early Hints), not 100 alone."""

    def _read_status(self) -> tuple[str, int, str]:
        version, status, reason = super()._read_status()  # type: ignore[misc]
        return version, 100 if 101 < status < 200 else status, reason


class _Connection(HTTPConnection):
    """Over a socket that is there already, and knows the deadline."""

    response_class = _Response

    def __init__(self, url: SplitResult, link: socket.socket, deadline: float):
        self.default_port = _PORTS[url.scheme]  # which the header Host leaves out
        super().__init__(str(url.hostname), url.port or self.default_port)
        self.sock: Any = _Timed(link, deadline)


class _Timed:
    """As much of a socket as http.client uses; waits no longer than until the deadline."""

    def __init__(self, inner: socket.socket, deadline: float):
        self._inner, self._deadline = inner, deadline

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._inner.settimeout(_left(self._deadline))
            view = view[self._inner.send(view[:_CHUNK]) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self._inner, self._deadline))

    def close(self) -> None:
        """Not yet: where the server will close the connection, this is called before the answer is read."""


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


@contextmanager
def _connected(url: SplitResult, deadline: float, sockets: Open) -> Iterator[socket.socket]:
    """A socket to one of the addresses of a host, tried in order, with as much time for each; with TLS, if need be."""
    host, failed = str(url.hostname), OSError("the host has no address")
    addresses = _addresses(host, url.port or _PORTS[url.scheme], deadline, sockets)
    for i, (family, kind, protocol, _, address) in enumerate(addresses):
        try:
            link = socket.socket(family, kind, protocol)
        except OSError as error:  # of a family that this machine does not know
            failed = error
            continue
        with sockets.using(link):
            try:
                link.settimeout(_left(deadline) / (len(addresses) - i))
                link.connect(address)
            except OSError as error:
                failed = error
                continue
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if url.scheme != "https":
                yield link
                return
            context = ssl.create_default_context()
            secure = context.wrap_socket(link, server_hostname=host, do_handshake_on_connect=False)
            with sockets.using(secure):
                secure.settimeout(_left(deadline))
                secure.do_handshake()
                yield secure
                return
    raise failed


def _addresses(host: str, port: int, deadline: float, sockets: Open) -> list[Any]:
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
    while not found:
        sockets.check()
        thread.join(min(_GLANCE, _left(deadline)))
    if isinstance(found[0], OSError):
        raise found[0]
    return list(found[0])


_PORTS = {"http": 80, "https": 443}
FAILURES = (OSError, HTTPException, ValueError)
"""What `post` raises where there is no answer; ValueError: a header that is none."""
