#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_results.py - the summary at the end of ./check

Reads the JUnit files of ctest and the list of builds, prints the output of failed tests
and the reasons of skipped ones, then one line: N tests, N runs: N passed,
N failed (, N unstable, N skipped). A test that several builds or several suites' runtimes run is one test.
A test is unstable if it failed and then passed in a second run, alone (STAGE.again): more than two of those, or one in
500 runs, fail the run.
"""
import glob
import os
import re
import sys
import xml.etree.ElementTree as ET

MAX_LINES = 40


# The prefixes that rtl_userland_tests(), sanitized.cmake and rtl_case_tests() give a test, of 010_exact for example.
VARIANT = re.compile(r"^(?:(?:debian13|experimental)\.)?(?:[a-z]+\.)?(?=\d{3}_)")


def why_skipped(text):
    """The test's reason for skipping: `skip NAME: reason`, or its last line of output."""
    lines = [l.strip() for l in (text or "").splitlines() if l.strip()]
    for line in lines:
        said, _, reason = line.partition(": ")
        if said.startswith("skip ") and reason:
            return reason
    # The framework closes with its own counts; the reason is above them.
    lines = [l for l in lines if not l.startswith(("0 passed", "skip ", "ok "))]
    return lines[-1] if lines else "no reason given"


def passed_again(folder, stage):
    """Names of the tests of a stage that passed in the second run."""
    path = os.path.join(folder, f"{stage}.again")
    if not os.path.exists(path):
        return set()
    cases = ET.parse(path).getroot().iter("testcase")
    return {case.get("name") for case in cases if case.get("status") == "run"}


def show(word, name, output, folder):
    lines = output.splitlines()
    print(f"{word} {name}")
    if len(lines) > MAX_LINES:
        print(f"    ... {len(lines) - MAX_LINES} lines more in {folder}")
        lines = lines[-MAX_LINES:]
    for line in lines:
        print(f"    {line}")


def main():
    folder = sys.argv[1]
    passed, failed, unstable, skipped = 0, [], [], []
    distinct = set()
    builds = os.path.join(folder, "builds")
    if os.path.exists(builds):
        with open(builds, encoding="utf-8") as f:
            for line in f:
                result, name = line.split()
                distinct.add(name)
                if result == "pass":
                    passed += 1
                else:
                    failed.append((name, "see above"))
    for path in sorted(glob.glob(os.path.join(folder, "*.xml"))):
        stage = os.path.basename(path)[:-4]
        again = passed_again(folder, stage)
        for case in ET.parse(path).getroot().iter("testcase"):
            name = f"{stage}: {case.get('name')}"
            status = case.get("status")
            output = case.findtext("system-out") or ""
            test = VARIANT.sub("", case.get("name"))
            if status == "run":
                distinct.add(test)
                passed += 1
            elif status == "fail":
                reason = case.find("failure")
                why = reason.get("message") if reason is not None else ""
                took = f"after {float(case.get('time') or 0):.1f} s"
                distinct.add(test)
                where = unstable if case.get("name") in again else failed
                where.append((f"{name}, {took}", f"{why}\n{output}".strip()))
            else:
                # "notrun" may also mean a missing program, which is a failure
                why = case.find("skipped")
                message = why.get("message") if why is not None else ""
                if status == "disabled" or "SKIP" in (message or "").upper():
                    skipped.append((name, why_skipped(output)))
                else:
                    distinct.add(test)
                    failed.append((name, message or "did not run"))

    for name, output in unstable:
        show("UNSTABLE (passed when run again alone)", name, output, folder)
    for name, output in failed:
        show("FAILED", name, output, folder)
    reasons = {}
    for name, why in skipped:
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        print(f"skipped {', '.join(names[:3])}{more}: {why}")
    runs = passed + len(failed) + len(unstable)
    if runs == 0:
        print("nothing was run")
        failed.append(("", ""))
    tail = f", {len(unstable)} unstable" if unstable else ""
    tail += f", {len(skipped)} skipped" if skipped else ""
    print(f"{len(distinct)} tests, {runs} runs: {passed} passed, {len(failed)} failed{tail}")
    return 1 if failed or len(unstable) > max(2, runs // 500) else 0


if __name__ == "__main__":
    sys.exit(main())
