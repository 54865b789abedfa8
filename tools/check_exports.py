#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_exports.py - a shared library exports the names of its version script and needs only allowed libraries

Every literal name in the script's global part is exported with its node's version, every exported
name is in the script (patterns count), the SONAME is the expected one, NEEDED is within the list,
and the library can't be unloaded (NODELETE) and is bound at load (NOW). It uses no cancellation point of libc: a thread of the
program with a pending pthread_cancel() would end in it, with locks taken (src/base/sys.h).
"""
import argparse
import fnmatch
import re
import subprocess
import sys


# of libc, as glibc has them
CANCELLATION_POINTS = set("""
accept accept4 aio_suspend clock_nanosleep close connect copy_file_range creat epoll_pwait epoll_wait fallocate fallocate64 fdatasync
fsync getrandom lockf mq_receive mq_send msgrcv msgsnd msync nanosleep open open64 openat openat64 pause poll ppoll pread pread64 preadv
pselect pthread_cond_timedwait pthread_cond_wait pthread_join pthread_testcancel pwrite pwrite64 pwritev read readv recv recvfrom recvmmsg
recvmsg select sem_clockwait sem_timedwait sem_wait send sendmsg sendto sigpause sigsuspend sigtimedwait sigwait sigwaitinfo sleep splice
sync_file_range system tcdrain tee usleep vmsplice wait wait3 wait4 waitid waitpid write writev
fclose fflush fgets fopen fprintf fputc fputs fread fwrite getline mkostemp mkstemp pclose popen printf vfprintf
""".split())
# name: why no cancellation can end a thread there
NOT_CANCELLED = {
    "pthread_cond_wait": "lock_wait(): under a lock, where cancellation is off",
    "pthread_cond_timedwait": "lock_wait_until(): the same",
    "pthread_join": "between sys_cancel_off() and sys_cancel_on()",
    "mkostemp": "temporary.c: of the command rtl; the library has no caller",
    "sem_wait": "relay.c: on a thread of the library's own",
    "sem_clockwait": "the same",
}
# that read files by stdio: between sys_cancel_off() and sys_cancel_on(), or under a lock
STDIO = {"fclose", "fgets", "fopen", "fprintf", "fputc", "fread", "fwrite"}
STDIO_USERS = {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0", "librocprofiler64.so.1"}


def cancellation_points(nm, lib, soname):
    used = {line.split()[-1].partition("@")[0] for line in run(nm, "-D", "--undefined-only", lib).splitlines()}
    return sorted((used & CANCELLATION_POINTS) - set(NOT_CANCELLED) - (STDIO if soname in STDIO_USERS else set()))


def parse_map(path):
    """[(version or None, [global names or patterns])]"""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"(?m)#.*$", " ", text)
    nodes = []
    for match in re.finditer(r"([A-Za-z_][\w.\-]*)?\s*\{(.*?)\}\s*([\w.\-]+)?\s*;", text, flags=re.S):
        version, body = match.group(1), match.group(2)
        part, names = "global", []
        for token in re.finditer(r"(global|local)\s*:|([^\s;:]+)\s*;", body):
            if token.group(1):
                part = token.group(1)
            elif part == "global":
                names.append(token.group(2))
        nodes.append((version, names))
    return nodes


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def exported(nm, lib):
    """{name: version or None} of what the library defines; version nodes themselves left out"""
    out = {}
    for line in run(nm, "-D", "--defined-only", "--with-symbol-versions", lib).splitlines():
        fields = line.split()
        if len(fields) < 2 or fields[-2] == "A":
            continue
        name, _, version = fields[-1].partition("@")
        out.setdefault(name, set()).add(version.lstrip("@") or None)
    return out


def is_pattern(name):
    return any(c in name for c in "*?[")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--map", required=True)
    ap.add_argument("--soname", required=True)
    ap.add_argument("--nm", default="nm")
    ap.add_argument("--readelf", default="readelf")
    ap.add_argument("--needed", action="append", default=[])
    ap.add_argument("library")
    args = ap.parse_args()

    errors = []
    nodes = parse_map(args.map)
    have = exported(args.nm, args.library)
    wanted = {}
    patterns = []
    for version, names in nodes:
        for name in names:
            if is_pattern(name):
                patterns.append((name, version))
            else:
                wanted.setdefault(name, set()).add(version)

    for name in sorted(wanted):
        missing = wanted[name] - have.get(name, set())
        for version in sorted(missing, key=str):
            errors.append(f"in the map, not exported: {name}@{version or ''}")
    for name in sorted(have):
        for version in sorted(have[name], key=str):
            if version in wanted.get(name, set()):
                continue
            if any(fnmatch.fnmatchcase(name, p) and version == v for p, v in patterns):
                continue
            errors.append(f"exported, not in the map: {name}@{version or ''}")

    dynamic = run(args.readelf, "-dW", args.library)
    soname = re.findall(r"\(SONAME\).*\[(.*?)\]", dynamic)
    if soname != [args.soname]:
        errors.append(f"SONAME is {soname}, not {args.soname}")
    for lib in re.findall(r"\(NEEDED\).*\[(.*?)\]", dynamic):
        if lib not in args.needed:
            errors.append(f"needs {lib}, which is not in the allowed list")
    for flag in ("NODELETE", "NOW"):
        if not re.search(r"\bFlags:.*\b%s\b" % flag, dynamic):
            errors.append(f"not linked -z {flag.lower()}")
    if re.search(r"\(TEXTREL\)", dynamic):
        errors.append("has text relocations")

    for name in cancellation_points(args.nm, args.library, args.soname):
        errors.append(f"uses {name}(), a cancellation point: base/sys.h has a function without")

    for e in errors:
        print(f"{args.library}: {e}")
    print(f"{args.soname}: {len(have)} exported names, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
