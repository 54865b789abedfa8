# SPDX-License-Identifier: MIT
"""compat.py - the costs of libroctracer64, each figure beside the minimum with HIP's own callbacks"""

FIGURES = (
    ("callbacks", "roctracer, a pair of callbacks of an API call", "empty callbacks of HIP's"),
    ("record", "roctracer, an activity record of an API call", "2 x counter, 64 bytes"),
    ("disabled", "roctracer, an operation that is disabled again", "HIP asks, and is refused"),
)


def roctracer(bench):
    """Rows of a HIP call under libroctracer64."""
    args = [f"library={bench.path('lib/libroctracer64.so.4')}", f"blocks={100 if bench.quick else 2000}"]
    ways = ["untraced"] + [w for name, _, _ in FIGURES for w in (f"least_{name}", name)]
    values = {w: [] for w in ways}
    for r in range(bench.rounds):
        for w in ways[r % len(ways) :] + ways[: r % len(ways)]:
            values[w].append(bench.traced("tracecall", [f"do={w}", *args], "untraced")["median"])
    bench.keep("roctracer", values)
    base = values["untraced"]

    def added(way):
        return bench.quiet(values[way]) - bench.quiet(base)

    bench.add("HIP call, untraced", bench.quiet(base), "ns", low=min(base))
    for way, what, floor in FIGURES:
        low = min(values[way]) - min(base)
        bench.add(what, added(way), "ns", added(f"least_{way}"), floor, low=low)
