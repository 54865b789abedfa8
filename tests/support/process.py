# SPDX-License-Identifier: MIT
"""process.py - a process that rtl ps finds by its socket, and that says what a test wants"""
import os
import socket
import struct
import threading

IDLE, RECORDING = 3, 1


class Process:
    """This process, with the socket in FOLDER/rtl: XDG_RUNTIME_DIR=FOLDER. Each request gets the same answer."""

    def __init__(self, folder):
        os.makedirs(os.path.join(folder, "rtl"), 0o700)
        self.env = {"XDG_RUNTIME_DIR": folder}
        self.pid = os.getpid()
        self.answer = b""
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.server.bind(f"{folder}/rtl/{self.pid}.{os.stat('/proc/self/ns/pid').st_ino:x}")
        self.server.listen(8)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                with self.server.accept()[0] as client:
                    if client.recv(4096):
                        client.send(self.answer)
            except OSError:
                return

    def says(self, state, text=b"", spool=b"", output=b"", command=b"", status=0):
        """struct control_reply of src/control/protocol.h."""
        texts = b"".join((t if isinstance(t, bytes) else t.encode())[:size - 1].ljust(size, b"\0")
                         for t, size in ((text, 256), (spool, 512), (output, 512), (command, 256)))
        self.answer = struct.pack("<IIIiIIII", 0x434c5452, 1, 112 + len(texts), status, state, 0, self.pid, 1) + bytes(80) + texts

    def close(self):
        self.server.shutdown(socket.SHUT_RDWR)
        self.thread.join(20)
        self.server.close()
