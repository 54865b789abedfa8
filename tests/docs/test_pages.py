#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command of the documents for users runs, and prints what the page shows.

    test_pages.py PAGE...	paths below the source tree

Fenced blocks of a page run in their order in one shell, in a directory of the page's own, on the virtual GPU:

    sh        all lines are commands
    console   a line that begins with "$ " is a command; the lines below it are what it prints on stdout and stderr

A command that fails, and one that prints something else, fails the page. In the output that a page shows ... stands for
anything: alone for any lines, within a line for any text. Times, shares, rates, numbers of gaps, process ids and the calls
that take most of a time may differ.

Comments of a page, which no reader sees:

    <!-- test: COMMAND -->	also runs
    <!-- file: NAME -->		the next block is the contents of that file

Programs that can't run in a test are replaced by stand_in.sh, which sets what they set and runs what they run: apt, cmake's builds,
docker, git, hipcc, ldconfig, make, man, mpirun, srun, sudo, torchrun, xdg-open. ./demo and ./check do nothing. ./program and ./app are
examples/vadd.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = os.environ["RTL_BUILD"], os.environ["RTL_SOURCE"]
HERE = os.path.dirname(os.path.abspath(__file__))
STAND_INS = ("apt apt-get cmake docker git hipcc ldconfig make man mpirun srun sudo torchrun xdg-open").split()
VARIABLE = (
    (r"[-+]?\d[\d.,]* ?(?:ns|us|ms|s|min)\b", "<time>"),
    (r"-?\d[\d.]* ?%", "<share>"),
    (r"\d[\d.]* (?:B|KiB|MiB|GiB)/s", "<rate>"),
    (r"\bpid \d+", "pid <number>"),
    (r"\b\d+ gaps", "<number> gaps"),
    (r"\bhip[A-Z]\w+ <share>", "<call> <share>"),  # which call is the longest
    (r"\bhip[A-Z]\w+ takes <time>", "<call> takes <time>"),
)
# a shell's part of the page: where the command is, what it is, what it prints or None
FENCE = re.compile(r"^```(\w*)\s*$")
LIMIT = 120


class Command:
    def __init__(self, line, text, output=None):
        self.line = line
        self.text = text
        self.output = output


def console(lines, first):
    """The commands of a console block."""
    commands, at = [], 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            raise SystemExit(f"line {first + at}: a console block begins with '$ COMMAND'")
        command = Command(first + at, lines[at][2:], [])
        while command.text.endswith("\\"):
            at += 1
            command.text += "\n" + lines[at]
        at += 1
        while at < len(lines) and not lines[at].startswith("$ "):
            command.output.append(lines[at])
            at += 1
        while command.output and not command.output[-1].strip():
            command.output.pop()
        commands.append(command)
    return commands


def commands_of(text):
    """Commands of a page, and files that it shows, as commands that write them."""
    commands, lines, at, name = [], text.splitlines(), 0, None
    while at < len(lines):
        hidden = re.match(r"<!-- (test|file): (.*) -->$", lines[at])
        fence = FENCE.match(lines[at])
        at += 1
        if hidden and hidden.group(1) == "test":
            commands.append(Command(at, hidden.group(2)))
        elif hidden:
            name = hidden.group(2)
        elif fence:
            end = lines.index("```", at)
            block = lines[at:end]
            if name:
                commands.append(Command(at, f"cat >{name} <<'END-OF-FILE'\n" + "\n".join(block) + "\nEND-OF-FILE"))
                name = None
            elif fence.group(1) == "sh":
                commands.append(Command(at, "\n".join(block)))
            elif fence.group(1) == "console":
                commands += console(block, at + 1)
            at = end + 1
    return commands


def pattern(line):
    parts = [re.escape(normal(part)) for part in line.split("...")]
    return re.compile(".*".join(parts) + "$")


def normal(line):
    for regex, name in VARIABLE:
        line = re.sub(regex, name, line)
    return " ".join(line.split())


def difference(want, got):
    """Nothing, or the line that is not there."""
    at, anywhere = 0, False
    for line in want:
        if line.strip() == "...":
            anywhere = True
            continue
        if not line.strip():
            continue
        wanted = pattern(line)
        found = next((i for i in range(at, len(got) if anywhere else min(at + 1, len(got))) if wanted.match(got[i])), None)
        if found is None:
            return f"{line!r}: not there; instead of it {got[at] if at < len(got) else 'nothing'!r}"
        at, anywhere = found + 1, False
    if at < len(got) and not anywhere:
        return f"more than the page shows: {got[at]!r}"
    return None


def environment(folder):
    tools = os.path.join(folder, "tools")
    os.mkdir(tools)
    for name in STAND_INS:
        os.symlink(os.path.join(HERE, "stand_in.sh"), os.path.join(tools, name))
    env = {k: v for k, v in os.environ.items() if not re.match(r"(RTL|VGPU|HSA|HIP|ROC|SLURM|OMPI|PMI)_", k)}
    vgpu = os.path.join(BUILD, "vgpu")
    env.update({
        "PATH": ":".join([tools, os.path.join(BUILD, "bin"), os.environ["PATH"]]), "HOME": os.path.join(folder, "page"),
        # the machine's GPU is the virtual one, without --virtual-gpu too
        "LD_PRELOAD": f"{vgpu}/libvgpu.so", "LD_LIBRARY_PATH": f"{vgpu}:{BUILD}/lib", "COLUMNS": "100", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "XDG_RUNTIME_DIR": folder,
        "DOC_SOURCE": SOURCE, "DOC_BUILD": BUILD, "DOC_CMAKE": shutil.which("cmake"), "DOC_TOOLS": tools})
    return env


def script(commands):
    lines = ["set -eu", "exec 2>&1",
             # what a shell has as a function
             'module() { case $1 in use) modules=$2; [ -e "$2/rocm-trace-lite" ] ;; load) PATH=$modules/../../bin:$PATH ;; esac; }']
    for number, command in enumerate(commands):
        lines += [f'printf "\\n@@%d\\n" {number}', command.text]
    return "\n".join(lines + ['printf "\\n@@end\\n"'])


def check(page):
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        commands = commands_of(file.read())
    if not commands:
        return [f"{page}: no command"]
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        work = os.path.join(folder, "page")
        os.mkdir(work)
        os.symlink(BUILD, os.path.join(work, "build"))
        for name in ("program", "app"):
            os.symlink(os.path.join(BUILD, "examples/vadd"), os.path.join(work, name))
        done = subprocess.run(["bash", "-c", script(commands)], cwd=work, env=environment(folder), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, timeout=LIMIT, check=False, text=True, errors="replace")
        parts = re.split(r"^@@(\d+|end)\n", "\n" + done.stdout, flags=re.M)
        seen = {parts[i]: parts[i + 1].splitlines() for i in range(1, len(parts) - 1, 2)}
        for number, command in enumerate(commands):
            where = f"{page}:{command.line}: {command.text}"
            if str(number) not in seen:
                failures.append(f"{where}\n  did not run")
                break
            got = [normal(line) for line in seen[str(number)] if line.strip()]
            if str(number + 1) not in seen and "end" not in seen:
                failures.append(f"{where}\n  status {done.returncode}\n  " + "\n  ".join(seen[str(number)][-15:]))
                break
            wrong = difference(command.output, got) if command.output else None
            if wrong:
                failures.append(f"{where}\n  {wrong}\n  it printed:\n    " + "\n    ".join(seen[str(number)]))
    print(f"{page}: {len(commands)} commands, {len(failures)} failures")
    return failures


def main():
    failures = [failure for page in sys.argv[1:] for failure in check(page)]
    print("\n".join(failures))
    sys.exit(bool(failures))


main()
