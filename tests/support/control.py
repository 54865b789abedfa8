# SPDX-License-Identifier: MIT
"""control.py - a client of a traced process's socket, written after src/control/protocol.h"""
import os
import re
import socket
import struct

from .harness import fail

MAGIC = 0x434C5452
STATUS, START, STOP, FLUSH = 1, 2, 3, 4
REQUEST = struct.Struct("<IIII512s512s")
REPLY = struct.Struct("<IIIiIIII10Q256s512s512s256s")
FIELDS = (
    "magic version size status state causes pid flags state_age_ns age_ns dispatches copies calls left_out losses"
).split()
STATES = {1: "recording", 2: "paused", 3: "idle", 4: "ending"}


def directory(env=None):
    """Where the sockets of processes with this environment are."""
    runtime = (env or os.environ).get("XDG_RUNTIME_DIR")
    return os.path.join(runtime, "rtl") if runtime else f"/tmp/rtl-{os.geteuid()}"


def sockets(folder):
    """{pid: path}"""
    if not os.path.isdir(folder):
        return {}
    return {int(n.split(".")[0]): os.path.join(folder, n) for n in os.listdir(folder) if re.fullmatch(r"\d+\.\w+", n)}


def connect(path, seconds=30):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # A socket with a timeout does not wait for space in the queue of connections; a blocking one does.
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", seconds, 0))
    # by its folder: a path of a socket has 107 bytes at most
    folder = os.open(os.path.dirname(path), os.O_PATH)
    try:
        s.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)
    s.settimeout(seconds)
    return s


def request(command, folder=b"", output=b"", version=1):
    return REQUEST.pack(MAGIC, version, REQUEST.size, command, folder, output)


def raw(path, message, seconds=30):
    """The bytes of the answer; b"": the connection was closed."""
    with connect(path, seconds) as s:
        s.send(message)
        return s.recv(65536)


def parse(answer):
    if len(answer) != REPLY.size:
        fail(f"answer of {len(answer)} bytes, expected {REPLY.size}")
    values = REPLY.unpack(answer)
    reply = dict(zip(FIELDS, values))
    for name, text in zip(("text", "spool", "output", "command"), values[-4:]):
        reply[name] = text.split(b"\0")[0].decode()
    reply["state"] = STATES.get(reply["state"], reply["state"])
    return reply


def ask(path, command, folder="", output=""):
    return parse(raw(path, request(command, folder.encode(), output.encode())))
