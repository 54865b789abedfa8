# SPDX-License-Identifier: MIT
"""`from support import *`, with PYTHONPATH=tests: the harness of every script of cases."""
from support.harness import *
