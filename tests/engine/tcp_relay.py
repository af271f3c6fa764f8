"""A way to a server that a test can cut."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class TcpRelay:
    """Hands bytes on to `port` of this machine, while it isn't cut."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Lose all connections; new ones are lost at once."""
        self._is_cut = True
        for each in list(self._open):
            self._lose(each)

    def mend(self) -> None:
        """Let new connections through."""
        self._is_cut = False

    def close(self) -> None:
        """Hand on nothing any more."""
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self._is_cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
                self._open |= {near, far}
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._hand_on, args=(one, other), daemon=True).start()

    def _hand_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        self._lose(one)
        self._lose(other)

    def _lose(self, each: socket.socket) -> None:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
        self._open.discard(each)


@contextmanager
def relay(port: int) -> Iterator[TcpRelay]:
    """A relay that is closed afterwards."""
    created = TcpRelay(port)
    try:
        yield created
    finally:
        created.close()
