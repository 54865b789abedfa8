#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl ps, start, stop, status: a running process is reached by its socket, by its user alone, and harmed by nothing it is sent."""
import atexit
import json
import random
import socket
import stat

from support import *
from support import control


running = []


@atexit.register
def kill_running():
    """A case that fails leaves its program behind, which would run for ever."""
    for p in running:
        if p.poll() is None:
            os.killpg(p.pid, signal.SIGKILL)


def start_flood(*args, trace=RTL, env=None, rtl_args=("-q", "-m", "standard"), **kwargs):
    """A program that submits dispatches until end(). Returns Popen, Run, the program's pid and its socket."""
    runtime = new_dir("runtime")
    os.chmod(runtime, 0o700)
    flag = os.path.join(new_dir("flag"), "end")
    env = {"XDG_RUNTIME_DIR": runtime, **(env or {})}
    p, r = start(
        "flood", *(args or ("threads=8", "count=1")), f"until={flag}", trace=trace, env=env, rtl_args=rtl_args, **kwargs
    )
    running.append(p)
    r.flag, r.env, r.runtime = flag, env, runtime
    found = wait_until("socket", lambda: p.poll() is not None or control.sockets(os.path.join(runtime, "rtl")))
    if found is True:
        finish(p, r, 10)
        ended(r, 0)
        fail("the program has ended")
    ((r.pid, r.socket),) = found.items()
    return p, r


IDLE = {"LD_PRELOAD": LIBRTL, "RTL_IDLE": "1"}


def start_idle(*args):
    p, r = start_flood(*args, trace=PLAIN, env=IDLE)
    wait_until("dispatches", lambda: control.ask(r.socket, control.STATUS)["left_out"] > 100)
    return p, r


def end(p, r, status=0):
    with open(r.flag, "w"):
        pass
    finish(p, r, 120)
    ended(r, status)
    return int(r.out.split()[1])


def cli(r, *args, status=0):
    done = rtl(*args, cwd=r.dir, env={"XDG_RUNTIME_DIR": r.runtime})
    if status is not None:
        equal(f"status of rtl {' '.join(map(str, args))}: {done.err}", done.status, status)
    return done


def ps_rows(r):
    """Of the process. rtl ps also lists those of other tests, whose sockets are in /tmp."""
    return [row for row in json.loads(cli(r, "ps", "-f", "json").out) if row["pid"] == r.pid]


def ps_row(r):
    rows = ps_rows(r)
    equal("rows of the process in rtl ps", len(rows), 1)
    return rows[0]


def conserved(r, submitted):
    # with those of the runtime itself, which are left out as well
    recorded, left_out = r.count("rtl_dispatch"), r.losses().get("paused", 0)
    executed = len(r.log("dispatch"))
    at_least("dispatches of the GPU", executed, submitted)
    equal("recorded, and counted as paused", recorded + left_out, executed)
    equal("reasons", set(r.losses()) - {"paused"}, set())
    contains("rtl info", r.info(), "verdict: complete")
    return recorded, left_out


@case
def start_and_stop_1000_times_lose_nothing():
    p, r = start_flood()
    for i in range(1000):
        reply = control.ask(r.socket, control.STOP)
        equal("state after stop", (reply["status"], reply["state"]), (0, "paused"))
        reply = control.ask(r.socket, control.START)
        equal("state after start", (reply["status"], reply["state"]), (0, "recording"))
    recorded, left_out = conserved(r, end(p, r))
    at_least("recorded", recorded, 1000)
    at_least("counted as paused", left_out, 1000)


@case
def socket_is_there_when_requests_can_be_carried_out():
    """The trace takes its time to start, in a build with internal checks."""
    p, r = start_flood(env={"RTL_TEST_STALL": "life_starting:1500"})
    reply = control.ask(r.socket, control.STOP)
    equal("state after stop", (reply["status"], reply["state"]), (0, "paused"))
    conserved(r, end(p, r))


@case
def nothing_is_recorded_between_stop_and_start():
    p, r = start_flood("threads=2", "count=1")
    wait_until("dispatches", lambda: control.ask(r.socket, control.STATUS)["dispatches"] > 100)
    cli(r, "stop", r.pid)

    def after_more(row):
        """The state when 1000 more dispatches have been left out: those in flight at `row` have completed, the queues are small."""
        return wait_until("more left out", lambda: (s := ps_row(r))["left_out"] > row["left_out"] + 1000 and s)

    before = after_more(ps_row(r))
    equal("state", before["state"], "paused")
    later = after_more(before)
    equal("dispatches recorded meanwhile", later["dispatches"], before["dispatches"])
    contains("rtl start", cli(r, "start", r.pid).err, f"{r.pid}: recording")
    wait_until("more recorded", lambda: control.ask(r.socket, control.STATUS)["dispatches"] > later["dispatches"])
    conserved(r, end(p, r))


@case
def ps_and_status_show_the_process():
    p, r = start_flood("threads=1", "count=1")
    text = cli(r, "ps").out
    contains("rtl ps", text, str(r.pid))
    contains("rtl ps", text, "recording")
    contains("rtl ps", text, "flood threads=1")
    row = ps_row(r)
    equal("spool", os.path.dirname(row["spool"]), r.output + ".spool")
    text = cli(r, "status", r.pid).out
    for part in (f"{r.pid}: recording", "raw trace", "dispatches", "losses      0"):
        contains("rtl status", text, part)
    cli(r, "stop", r.pid)
    contains("rtl status", cli(r, "status", r.pid).out, "paused by rtl stop")
    equal("columns of csv", cli(r, "ps", "-f", "csv").out.splitlines()[0].split(",")[:4], ["pid", "uid", "state", "state_ns"])
    end(p, r)
    equal("rows after the end", ps_rows(r), [])
    equal("sockets after the end", control.sockets(os.path.dirname(r.socket)), {})
    contains("rtl status after the end", cli(r, "status", r.pid, status=1).err, "no such process")


@case
def sockets_of_killed_processes_are_removed():
    p, r = start_flood("threads=1", "count=1")
    os.kill(r.pid, signal.SIGKILL)
    finish(p, r, 60)
    at_least("sockets that are left", len(control.sockets(os.path.dirname(r.socket))), 0)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.bind(os.path.join("/proc/self/fd", str(os.open(os.path.dirname(r.socket), os.O_PATH)), "1.abc"))
    other = os.path.join(os.path.dirname(r.socket), "other")
    open(other, "w").close()
    equal("rows of rtl ps", ps_rows(r), [])
    equal("what is left", os.listdir(os.path.dirname(r.socket)), ["other"])


@case
def start_also_starts_what_the_program_has_not():
    p, r = start_flood("threads=1", "count=1", rtl_args=("-q", "-m", "standard", "--trace-start", "off"))
    contains("rtl status", cli(r, "status", r.pid).out, "paused by the program")
    cli(r, "start", r.pid)
    wait_until("dispatches", lambda: control.ask(r.socket, control.STATUS)["dispatches"] > 100)
    conserved(r, end(p, r))


@case
def start_says_what_still_holds_recording_back():
    p, r = start_flood("threads=1", "count=1", rtl_args=("-q", "-m", "standard", "--range", "never"))
    contains("rtl start", cli(r, "start", r.pid).err, "outside the range of --range")
    end(p, r)


@case
def flush_writes_what_has_completed():
    p, r = start_flood("threads=4", "count=1")
    last = 0
    for _ in range(100):
        reply = control.ask(r.socket, control.FLUSH)
        equal("status", reply["status"], 0)
        at_least("dispatches", reply["dispatches"], last)
        last = reply["dispatches"]
    conserved(r, end(p, r))


def check_part(r, name, queues=1):
    """A trace of an idle process: complete, and each queue's packets without a gap."""
    db = open_db(os.path.join(r.dir, name))
    rows = db.execute("select queue, count(*), max(packet_index) - min(packet_index) + 1 from rtl_dispatch group by 1").fetchall()
    at_least("queues", len(rows), queues)
    equal("packets of a queue", [r for r in rows if r[1] != r[2]], [])
    contains("rtl info", cli(r, "info", name).out, "verdict: complete")
    return sum(row[1] for row in rows)


@case
def idle_process_is_recorded_between_start_and_stop():
    p, r = start_idle("threads=2", "count=1")
    row = ps_row(r)
    equal("state", (row["state"], row["dispatches"], row["spool"]), ("idle", 0, ""))
    for name in ("one.db", "two.db"):
        contains("rtl start", cli(r, "start", "-o", name, r.pid).err, f"rtl stop {r.pid} writes {name}")
        equal("state", ps_row(r)["state"], "recording")
        wait_until("dispatches", lambda: control.ask(r.socket, control.STATUS)["dispatches"] > 1000)
        contains("rtl stop", cli(r, "stop", r.pid).err, name)
        at_least("dispatches", check_part(r, name), 1000)
        equal("state", ps_row(r)["state"], "idle")
        contains("rtl stop again", cli(r, "stop", r.pid).err, "nothing is recorded")
    cli(r, "start", "-o", "three.db", r.pid)
    cli(r, "stop", "-q", "-o", "four.db", r.pid)
    equal("dispatches, which are counted anew", ps_row(r)["dispatches"], check_part(r, "four.db", queues=0))
    contains("rtl start -o of an existing file", cli(r, "start", "-o", "one.db", r.pid, status=1).err, "one.db")
    equal("files", sorted(n for n in os.listdir(r.dir) if n.startswith(("one", "two", "three", "four"))), ["four.db", "one.db", "two.db"])
    end(p, r)


@case
def idle_process_is_started_and_stopped_while_threads_launch():
    p, r = start_idle()
    folder = new_dir("spools")
    os.chmod(folder, 0o700)
    for i in range(100):
        where = os.path.join(folder, str(i))
        os.mkdir(where, 0o700)
        reply = control.ask(r.socket, control.START, where, where + ".db")
        equal(f"start {i}", (reply["status"], reply["text"], reply["state"]), (0, "", "recording"))
        reply = control.ask(r.socket, control.STOP)
        equal(f"stop {i}", (reply["status"], reply["text"], reply["state"]), (0, "", "idle"))
        equal("output", reply["output"], where + ".db")
        equal("raw traces", os.listdir(where), [os.path.basename(reply["spool"])])
        if i % 10 == 0:
            cli(r, "recover", "-q", "-o", f"{i}.db", reply["spool"])
            contains("rtl info", cli(r, "info", f"{i}.db").out, "verdict: complete")
        shutil.rmtree(where)
    end(p, r)


@case
def idle_process_that_ends_while_it_is_recorded_writes_the_database():
    p, r = start_idle("threads=1", "count=1")
    cli(r, "start", "-o", "end.db", r.pid)
    wait_until("dispatches", lambda: control.ask(r.socket, control.STATUS)["dispatches"] > 100)
    end(p, r)
    at_least("dispatches", check_part(r, "end.db"), 100)


@case
def idle_process_that_is_never_started_leaves_nothing():
    p, r = start_idle("threads=1", "count=1")
    end(p, r)
    equal("stderr", r.err, "")
    equal("files", sorted(n for n in os.listdir(r.dir) if not n.startswith("gpu.")), ["stderr", "stdout"])
    equal("sockets", control.sockets(os.path.dirname(r.socket)), {})


@case
def refused_starts_of_an_idle_process_leave_it_idle():
    p, r = start_idle("threads=1", "count=1")
    reply = control.ask(r.socket, control.START, "/nowhere/at/all")
    equal("status of a start without a directory", reply["status"] < 0, True)
    equal("its text", bool(reply["text"]), True)
    equal("state", reply["state"], "idle")
    contains("rtl start to nowhere", cli(r, "start", "-o", "/nowhere/x.db", r.pid, status=1).err, "no directory")
    cli(r, "start", "-o", "good.db", r.pid)
    contains("rtl start -o of what is traced", cli(r, "start", "-o", "x.db", r.pid, status=2).err, "is traced already")
    wait_until("dispatches", lambda: control.ask(r.socket, control.STATUS)["dispatches"] > 10)
    cli(r, "stop", r.pid)
    check_part(r, "good.db")
    end(p, r)


def top_rows(text):
    """The numbers of the last picture: {"dispatches": in all, ...}"""
    rows = re.findall(r"^(dispatches|API calls|copies) +[\d,]+/s +([\d,]+) in all", text, re.M)
    return {name: int(number.replace(",", "")) for name, number in rows}


@case
def top_counts_each_record_once_while_the_trace_grows():
    # small buffers: chunks are drained all the time
    p, r = start_flood("threads=4", "count=1", env={"RTL_BUFFER_MB": "4"})
    cli(r, "stop", r.pid)
    picture = subprocess.Popen(
        [RTL_BIN, "top", "-d", "100", "-n", "25", str(r.pid)], env=clean_env(r.env), stdout=subprocess.PIPE, text=True
    )
    cli(r, "start", r.pid)
    wait_until("dispatches", lambda: control.ask(r.socket, control.STATUS)["dispatches"] > 10000, 60)
    cli(r, "stop", r.pid)
    out = picture.communicate(timeout=60)[0]
    equal("status of rtl top", picture.returncode, 0)
    for _ in range(3):
        shown = top_rows(rtl_top(r, "--once", "-d", "100"))
    last = top_rows(out)
    at_least("dispatches that the long run shows", last["dispatches"], 1)
    conserved(r, end(p, r))
    equal("dispatches that rtl top shows", shown["dispatches"], r.count("rtl_dispatch", "not flags & 32"))


def rtl_top(r, *args):
    return cli(r, "top", *args, r.pid).out


@case
def top_shows_kernels_calls_and_copies():
    runtime = new_dir("runtime")
    os.chmod(runtime, 0o700)
    p, r = start("hipmix", "rounds=10000", trace=RTL, env={"XDG_RUNTIME_DIR": runtime, "COLUMNS": "80"})
    running.append(p)
    r.runtime = runtime
    found = wait_until("socket", lambda: control.sockets(os.path.join(runtime, "rtl")))
    ((r.pid, path),) = found.items()
    wait_until("calls", lambda: control.ask(path, control.STATUS)["copies"] > 10, 60)
    text = rtl("top", "--once", "-r", "4", str(r.pid), env={"XDG_RUNTIME_DIR": runtime, "COLUMNS": "80"}).out
    for part in (f"{r.pid}  recording for", "KERNEL  ", "API CALL  ", "COPY  ", "BANDWIDTH", "mix_", "hip", "CopyHostToDevice"):
        contains("rtl top", text, part)
    equal("lines that are too long", [l for l in text.splitlines() if len(l) > 80], [])
    lacks("rtl top", text, "\033")
    contains("rtl top", text, "... and ")
    # on a terminal, also where colours are not wanted
    if shutil.which("script"):
        command = f"stty rows 24 cols 80; {RTL_BIN} top -n 2 -d 100 {r.pid}"
        env = clean_env({"XDG_RUNTIME_DIR": runtime, "TERM": "xterm", "NO_COLOR": "1"})
        seen = subprocess.run(["script", "-qc", command, "/dev/null"], env=env, capture_output=True, text=True, timeout=60).stdout
        contains("rtl top on a terminal", seen, "\033[2J")
        equal("pictures", (seen.count("\033[2J"), seen.count("\033[H")), (1, 2))
        for picture in seen.split("\033[H")[1:]:
            at_most("lines of a picture", picture.count("\n"), 23)
    os.kill(r.pid, signal.SIGTERM)
    finish(p, r, 60)
    contains("rtl top of a process that is gone", cli(r, "top", r.pid, status=1).err, "no such process")


@case
def top_ends_with_the_process():
    p, r = start_flood("threads=1", "count=1")
    top = subprocess.Popen(
        [RTL_BIN, "top", "-d", "100", str(r.pid)], env=clean_env(r.env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    contains("the first look", top.stdout.readline(), "\n")
    end(p, r)
    out, err = top.communicate(timeout=30)
    equal("status", top.returncode, 0)
    contains("stderr", err, "has ended")


@case
def hostile_clients_do_no_harm():
    p, r = start_flood("threads=2", "count=1")
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    good = control.request(control.STATUS)
    held = []
    for i in range(1500):
        message = bytearray(rng.choice((good, rng.randbytes(rng.randrange(1, 6000)))))
        for _ in range(rng.randrange(4)):
            message[rng.randrange(len(message))] = rng.randrange(256)
        s = control.connect(r.socket)
        how = rng.randrange(5)
        if how == 0:
            held.append(s)  # never says anything
            if len(held) > 50:
                held.pop(rng.randrange(50)).close()
            continue
        with s:
            if how > 1:
                try:
                    s.send(message)
                except BrokenPipeError:
                    continue  # dropped for newer clients
            if how > 2:
                try:
                    answer = s.recv(65536)
                except ConnectionResetError:
                    continue
                if answer:
                    control.parse(answer)
    for s in held:
        s.close()
    equal(f"status (seed {seed})", control.ask(r.socket, control.STATUS)["status"], 0)
    control.ask(r.socket, control.START)  # garbage may have been a valid stop
    conserved(r, end(p, r))


@case
def program_keeps_its_descriptors():
    p, r = start_flood("threads=1", "count=1")
    links = [os.readlink(path) for path in glob.glob(f"/proc/{r.pid}/fd/*")]
    equal("sockets among them", [l for l in links if l.startswith("socket:")], [])

    def own_threads():
        names = [open(path).read().strip() for path in glob.glob(f"/proc/{r.pid}/task/*/comm")]
        return sorted(n for n in names if n.startswith("rtl-"))

    # a thread takes its name when it first runs, which may be after the socket is there
    wait_until("the harvester", lambda: "rtl-harvest" in own_threads())
    equal("threads of librtl", own_threads(), ["rtl-control", "rtl-harvest"])
    blocked = [re.search(r"SigBlk:\s*(\w+)", open(f"{os.path.dirname(path)}/status").read()).group(1)
               for path in glob.glob(f"/proc/{r.pid}/task/*/comm") if open(path).read() == "rtl-control\n"]
    equal("signals that are not blocked", [~int(b, 16) & 0x7FFBFEFF for b in blocked], [0])
    end(p, r)


@case
def variable_turns_the_socket_off():
    runtime = new_dir("runtime")
    os.chmod(runtime, 0o700)
    run("flood", "count=100", trace=RTL, env={"XDG_RUNTIME_DIR": runtime, "RTL_CONTROL": "0"})
    equal("directory", os.listdir(runtime), [])


@case
def directory_that_others_can_enter_is_refused_with_a_warning():
    runtime = new_dir("runtime")
    os.mkdir(os.path.join(runtime, "rtl"))
    os.chmod(os.path.join(runtime, "rtl"), 0o777)
    p, r = start("flood", "count=100", trace=RTL, env={"XDG_RUNTIME_DIR": runtime, "RTL_STRICT": "0"}, rtl_args=())
    finish(p, r, 60)
    ended(r, 0)
    equal("sockets", os.listdir(os.path.join(runtime, "rtl")), [])
    r = rtl("ps", env={"XDG_RUNTIME_DIR": runtime}, cwd=runtime)
    contains("rtl ps", r.err, "others have access to it")


def as_user(uid, argv, env, cwd):
    return subprocess.run(
        ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *map(str, argv)],
        env=clean_env(env), cwd=cwd, capture_output=True, text=True, timeout=60,
    )


@case
def users_do_not_reach_each_other():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        skip("needs root and setpriv")
    one, other = 54321, 54322
    base = f"/tmp/rtl-two-users-{os.getpid()}"
    shutil.rmtree(f"/tmp/rtl-{one}", ignore_errors=True)
    shutil.rmtree(f"/tmp/rtl-{other}", ignore_errors=True)
    os.makedirs(base)
    try:
        os.chmod(base, 0o755)
        mine = os.path.join(base, "mine")
        os.mkdir(mine)
        os.chown(mine, one, one)
        reachable = as_user(one, [RTL_BIN, "--version"], {}, base).returncode == 0
        if not reachable:
            skip("the build can't be read by other users")
        env = {"XDG_RUNTIME_DIR": None}
        flag = os.path.join(mine, "end")
        argv, full = command_line("flood", ["threads=1", "count=1", f"until={flag}"], RTL, 1, ("-q", "-m", "standard"), env, mine)
        p = subprocess.Popen(
            ["setpriv", f"--reuid={one}", f"--regid={one}", "--clear-groups", *argv], env={k: v for k, v in full.items() if k != "XDG_RUNTIME_DIR"}, cwd=mine, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        running.append(p)
        folder = f"/tmp/rtl-{one}"
        found = wait_until("socket", lambda: p.poll() is not None or control.sockets(folder))
        if found is True:
            fail(p.communicate()[0])
        ((pid, path),) = found.items()
        equal("mode of the directory", stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        # its own user
        r = as_user(one, [RTL_BIN, "status", pid], env, base)
        equal("status for its user", (r.returncode, r.stderr), (0, ""))
        # another one
        equal("rtl ps of the other", as_user(other, [RTL_BIN, "ps"], env, base).stdout, "")
        for command in ("status", "stop", "start"):
            r = as_user(other, [RTL_BIN, command, pid], env, base)
            equal(f"rtl {command} of the other", r.returncode, 1)
            contains(f"rtl {command} of the other", r.stderr, "another user")
        # also where the directory is open, and without rtl
        os.chmod(folder, 0o777)
        os.chmod(path, 0o777)
        script = (
            "import socket, sys\n"
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(10)\n"
            f"s.connect({path!r})\n"
            f"try:\n    s.send({control.request(control.STOP)!r})\n    n = len(s.recv(65536))\n"
            "except ConnectionError:\n    n = 0\n"
            "sys.exit(n)\n"
        )
        r = as_user(other, [sys.executable, "-c", script], env, base)
        equal("bytes that the other is answered", (r.returncode, r.stderr), (0, ""))
        os.chmod(folder, 0o700)
        # root reaches all
        r = rtl("stop", str(pid), cwd=base)
        equal("rtl stop of root", (r.status, "paused" in r.err), (0, True))
        contains("rtl ps --all", rtl("ps", "--all", cwd=base).out, str(pid))
        open(flag, "w").close()
        out = p.communicate(timeout=60)[0]
        equal(f"status: {out}", p.returncode, 0)
        # a directory that the other has made is not used
        shutil.rmtree(folder)
        os.mkdir(folder, 0o700)
        os.chown(folder, other, other)
        os.unlink(os.path.join(mine, "trace.db"))
        full["RTL_STRICT"] = "0"
        p = subprocess.run(
            ["setpriv", f"--reuid={one}", f"--regid={one}", "--clear-groups", *argv], env={k: v for k, v in full.items() if k != "XDG_RUNTIME_DIR"}, cwd=mine, capture_output=True, text=True, timeout=60
        )
        equal("status", p.returncode, 0)
        equal("what is in the other's directory", os.listdir(folder), [])
    finally:
        for path in (base, f"/tmp/rtl-{one}", f"/tmp/rtl-{other}"):
            shutil.rmtree(path, ignore_errors=True)


FORGER = """
import os, socket, struct, sys
reply, folder, output, spool = struct.Struct("<IIIiIIII10Q256s512s512s256s"), *sys.argv[1:]
os.makedirs(folder, 0o700, exist_ok=True)
name = f"{os.getpid()}.{os.stat('/proc/self/ns/pid').st_ino:x}"
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(os.path.join(folder, name))
s.listen(8)
print(os.getpid(), flush=True)
while True:
    c, _ = s.accept()
    if c.recv(65536):
        c.send(reply.pack(0x434C5452, 1, reply.size, 0, 3, 0, os.getpid(), 2, *[0] * 10, b"", spool.encode(), output.encode(), b"me"))
    c.close()
"""


@case
def root_acts_as_the_user_of_the_process():
    """What a process of another user names is written by that user, or not at all."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        skip("needs root and setpriv")
    one = 54323
    base = f"/tmp/rtl-root-{os.getpid()}"
    folder = f"/tmp/rtl-{one}"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(base)
    try:
        os.chmod(base, 0o755)
        mine = os.path.join(base, "mine")
        os.mkdir(mine)
        os.chown(mine, one, one)
        env = {"XDG_RUNTIME_DIR": None}
        if as_user(one, [RTL_BIN, "--version"], {}, base).returncode:
            skip("the build can't be read by other users")
        setpriv = ["setpriv", f"--reuid={one}", f"--regid={one}", "--clear-groups"]
        # a program that waits for rtl start
        flag = os.path.join(mine, "end")
        argv, full = command_line("flood", ["threads=1", "count=1", f"until={flag}"], PLAIN, 1, (), {**env, **IDLE}, mine)
        p = subprocess.Popen([*setpriv, *argv], env=full, cwd=mine, stdout=subprocess.DEVNULL, start_new_session=True)
        running.append(p)
        pid, = wait_until("socket", lambda: control.sockets(folder))
        out = os.path.join(mine, "x.db")
        r = rtl("start", "-o", os.path.join(base, "x.db"), pid, env=env, cwd=base)
        equal("rtl start to a directory of root's", (r.status, "Permission denied" in r.err), (1, True))
        ended(rtl("start", "-o", out, pid, env=env, cwd=base), 0)
        equal("the user of the raw trace", os.stat(out + ".spool").st_uid, one)
        ended(rtl("snapshot", "-o", os.path.join(mine, "now.db"), pid, env=env, cwd=base), 0)
        ended(rtl("stop", pid, env=env, cwd=base), 0)
        equal("users of the databases", {os.stat(os.path.join(mine, n)).st_uid for n in ("x.db", "now.db")}, {one})
        open(flag, "w", encoding="ascii").close()
        p.wait(60)
        # one that lies
        made = as_user(one, [RTL_BIN, "trace", "-q", "--no-convert", "--virtual-gpu", "-o", "y.db", "--", program("launcher"), "launches=5"], env, mine)
        equal("a raw trace", (made.returncode, made.stderr), (0, ""))
        spool, = glob.glob(mine + "/y.db.spool/*.rtl")
        target = os.path.join(base, "root.db")
        p = subprocess.Popen([*setpriv, sys.executable, "-c", FORGER, folder, target, spool], stdout=subprocess.PIPE, cwd="/", start_new_session=True)
        running.append(p)
        pid = int(p.stdout.readline())
        r = rtl("stop", pid, env=env, cwd=base)
        p.kill()
        p.wait()
        p.stdout.close()
        equal("rtl stop of one that names a file of root's", (r.status, os.path.exists(target)), (1, False))
        contains("rtl stop", r.err, "root.db")
        equal("the raw trace", os.path.exists(spool), True)
    finally:
        for path in (base, folder):
            shutil.rmtree(path, ignore_errors=True)


main()
