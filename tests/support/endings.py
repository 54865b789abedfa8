# SPDX-License-Identifier: MIT
"""The endings of the program `ending`."""
from support import *

# how -> exit status untraced; arguments
ENDINGS = {
    "return": (3, ["open=20"]),
    "exit": (3, ["open=20"]),
    "_exit": (3, ["pause=300", "open=20"]),
    "quick_exit": (3, ["pause=300", "open=20"]),
    "abort": (-signal.SIGABRT, ["pause=300", "open=20"]),
    "throw": (-signal.SIGABRT, ["pause=300", "open=20"]),
    "segv": (-signal.SIGSEGV, ["pause=300", "open=20"]),
    "kill": (-signal.SIGKILL, ["pause=300", "open=20"]),
    "pthread_exit": (3, []),
    "thread_exit": (3, ["open=20"]),
    "atexit": (3, ["open=5"]),
    "fork": (4, []),
    "fork_busy": (4, []),
    "fork_exec": (5, []),
    "vfork_exec": (5, []),
    "exec": (6, ["pause=300"]),
    "thread_death": (0, []),
    "detached": (3, ["pause=300"]),
}
# end without exit(): the trace has what completed 250 ms before; the others are complete
ABRUPT = {"_exit", "quick_exit", "abort", "throw", "segv", "kill", "exec", "detached"}


def without_child(err):
    """Without what Debian's ROCr 7.2.4 says in a forked child that ends: the thunk refuses to free its parent's memory or to read the
    clocks, without asking the driver. How far the child comes is chance, traced or not."""
    said = re.compile(r"^(Failed to free ptr:|Memory critical error by agent |ending: .* GpuAgent::SyncClocks\(\): Assertion ).*\n", re.MULTILINE)
    return said.sub("", err)


def run_ending(how, status, trace=PLAIN, env=None):
    """HIP 7.2.4 dies in its exit handlers now and then, with all output written: untraced 2 of 12 that fork and exec, 1 of 60
    that end a thread."""
    for _ in range(1 if not HIP7 else 8 if status > 0 else 3):
        r = run("ending", how, *ENDINGS[how][1], trace=trace, env=env, status=None, timeout=40)
        if r.status not in (-signal.SIGSEGV, 128 + signal.SIGSEGV):
            break
        print(f"    {r.name} {how} died in HIP's exit handlers ({r.status}), and runs again: {r.dir}")
    ended(r, status)
    return r
