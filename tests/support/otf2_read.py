#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""otf2_read.py ARCHIVE.otf2 - an archive as python3-otf2 reads it, as JSON: its definitions in their order, and every event

A program of its own, since python3-otf2 may belong to another interpreter than that of the tests.
"""
import json
import sys

import otf2


def ref(definition):
    return definition._ref  # pylint: disable=protected-access


def plain(value):
    """Of a definition its name, of a location its number, of an enumerator its word."""
    if isinstance(value, otf2.definitions.Location):
        return ref(value)
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, (int, float, str)) or value is None:
        return value
    return str(value.name) if hasattr(value, "name") else str(value).rsplit(".", maxsplit=1)[-1]


def main():
    with otf2.reader.open(sys.argv[1]) as trace:
        d = trace.definitions
        found = {
            "locations": [{"id": ref(l), "name": l.name, "group": l.group.name, "type": plain(l.type), "node": l.group.system_tree_parent.name,
                           "events": l.number_of_events} for l in d.locations],
            "groups": [{"name": g.name, "type": plain(g.group_type), "paradigm": plain(g.paradigm), "members": plain(g.members)} for g in d.groups],
            "comms": [{"name": c.name, "group": c.group.name, "parent": c.parent.name if c.parent else None} for c in d.comms],
            "windows": [{"name": w.name, "comm": w.comm.name, "members": plain(w.comm.group.members)} for w in d.rma_wins],
            "paradigms": [{"name": p.name, "class": plain(p.paradigm_class)} for p in d.paradigms],
            "regions": [{"name": r.name, "paradigm": plain(r.paradigm), "role": plain(r.region_role)} for r in d.regions],
            "events": [[ref(location), event.time, type(event).__name__,
                        {k: plain(v) for k, v in vars(event).items() if k not in ("time", "attributes")}] for location, event in trace.events],
        }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
