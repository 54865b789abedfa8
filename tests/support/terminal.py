# SPDX-License-Identifier: MIT
"""terminal.py - a program in a pseudo-terminal, and the screen that it draws"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

try:
    import pyte
except ImportError:  # Debian's package, for another Python than Debian's
    sys.path.append("/usr/lib/python3/dist-packages")
    import pyte


class Terminal:
    """`term`: linux has colours, vt100 has none."""

    def __init__(self, argv, env, rows=24, columns=80, term="linux", cwd=None):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.argv = argv
        self.status = None
        # set before the program looks at it
        size = struct.pack("HHHH", rows, columns, 0, 0)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, size)
            os.chdir(cwd or ".")
            os.execvpe(argv[0], argv, {**env, "TERM": term})

    def read(self, seconds):
        """Draws what the program writes in this time; False: it has ended."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.stream.feed(data)
        return bool(data)

    def until(self, condition, what="", seconds=30):
        """Draws until a text is on the screen, or a condition holds for its text; returns that."""
        end = time.monotonic() + seconds
        holds = condition if callable(condition) else lambda text: condition in text
        while not holds(self.text()):
            if not self.read(0.05) or time.monotonic() > end:
                raise AssertionError(f"{self.argv}: {what or condition!r} does not come:\n{self.text()}")
        return self.settled()

    def settled(self, seconds=0.15):
        """The screen when nothing was drawn for a while."""
        while select.select([self.fd], [], [], seconds)[0]:
            if not self.read(0):
                break
        return self.text()

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display) + "\n"

    def colours(self):
        return {cell.fg for line in self.screen.buffer.values() for cell in line.values()}

    def wait(self, seconds=20):
        """The exit status, negative for a signal."""
        end = time.monotonic() + seconds
        while self.status is None:
            if time.monotonic() > end:
                raise AssertionError(f"{self.argv}: does not end:\n{self.text()}")
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
