# SPDX-License-Identifier: MIT
"""Packages of npm for tests: fetched once for a build folder"""
import fcntl
import os
import shutil
import subprocess


def npm_folder(case, package):
    """The folder whose node_modules has PACKAGE (name@version): NPM_FOLDER, or one of the build, into which npm fetches it.
    CASE is skipped if that can't be done."""
    folder = os.environ.get("NPM_FOLDER") or os.path.join(os.environ["RTL_BUILD"], "tests/npm")
    os.makedirs(folder, exist_ok=True)
    if not shutil.which("npm"):
        case.skipTest("npm is not there")
    with open(os.path.join(folder, ".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(folder, "node_modules", package.rsplit("@", 1)[0], "package.json")):
            p = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", "--fetch-retries=0", package],
                               cwd=folder, capture_output=True, timeout=200, check=False)
            if p.returncode:
                case.skipTest(f"npm can't fetch {package}")
    return folder
