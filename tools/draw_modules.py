#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""draw_modules.py - which module includes which, and which calls which

Usage: tools/draw_modules.py [BUILD NM [--check | --update]]

A module is a row of check_layers.py's table: a folder of src/ (of source/, sink/, cli/ and export/ the one below), or of lib/. Without arguments it draws the includes, with a build also the calls, from the
symbols of the objects. A module that is reached through another one gets no arrow. --update writes the pictures into
docs/design/modules.md, --check compares them with it. A cycle of modules or of headers is an error.
"""
import os
import re
import sys

import check_layers
import check_links
import rtl_tree

PAGE = "docs/design/modules.md"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def module(name):
    """The module of a file, or None."""
    if name == check_layers.FORMAT_TABLE:  # above the formats, which are above what is in its folder
        return name[len("src/"):]
    if name.startswith("lib/"):
        return name.split("/")[1]
    return check_layers.own_folder(name)[len("src/"):].rstrip("/*") if name.startswith("src/") else None


def add(edges, user, used):
    if user and used and user != used:
        edges.setdefault(user, set()).add(used)


def includes():
    """{module: modules that its files include}."""
    edges = {}
    for name in rtl_tree.files(".c", ".h", under=("src", "lib")):
        edges.setdefault(module(name), set())
        for target in INCLUDE.findall(rtl_tree.strip(rtl_tree.read(name), keep_strings=True)):
            path = check_layers.resolve(name, target)
            add(edges, module(name), path and module(path))
    edges.pop(None, None)
    return edges


def headers():
    """{header: headers that it includes}."""
    edges = {}
    for name in rtl_tree.files(".h", under=("src", "lib")):
        for target in INCLUDE.findall(rtl_tree.strip(rtl_tree.read(name), keep_strings=True)):
            add(edges, name, check_layers.resolve(name, target))
    return edges


def calls(build, nm):
    """{module: modules whose functions or data its objects name}."""
    edges, owners, wanted = {}, {}, []
    sources = {path: source for path, source in check_links.objects(build) if not source.startswith("vgpu/")}
    for path, (defined, undefined) in check_links.symbols(nm, sources).items():
        source = sources[path]
        edges.setdefault(module(source), set())
        for name in defined:
            owners.setdefault(name, set()).add(module(source))
        wanted.append((module(source), undefined - check_links.EXCEPTIONS.keys()))
    for user, names in wanted:
        for name in names:
            # a name that several libraries define is private to each
            if len(owners.get(name, ())) == 1:
                add(edges, user, min(owners[name]))
    edges.pop(None, None)
    return edges


def find_cycle(edges):
    """The modules of a cycle, in order; none: []."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):]
        if node in done:
            return []
        path.append(node)
        for other in sorted(edges.get(node, ())):
            cycle = visit(other)
            if cycle:
                return cycle
        path.pop()
        done.add(node)
        return []

    for start in sorted(edges):
        cycle = visit(start)
        if cycle:
            return cycle
    return []


def reached(edges, start):
    """The modules that are reachable from one, without itself."""
    seen, todo = set(), list(edges.get(start, ()))
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += edges.get(node, ())
    return seen


def draw(edges):
    """A Mermaid flowchart without arrows that a longer path implies."""
    out = ["```mermaid", "flowchart TD"]
    names = {name: "m%d" % i for i, name in enumerate(sorted(edges))}
    out += ['\t%s["%s"]' % (names[name], name) for name in sorted(edges)]
    for user in sorted(edges):
        longer = set().union(*(reached(edges, used) for used in edges[user])) if edges[user] else set()
        out += ["\t%s --> %s" % (names[user], names[used]) for used in sorted(edges[user] - longer)]
    return "\n".join(out + ["```"])


def replace(page, what, picture):
    return re.sub(r"(<!-- %s -->\n).*?(<!-- end -->)" % what, lambda m: m.group(1) + picture + "\n" + m.group(2), page, flags=re.S)


def run(args):
    graphs = {"includes": includes()}
    if args:
        graphs["calls"] = calls(args[0], args[1])
    errors = []
    for what, edges in [*graphs.items(), ("headers", headers())]:
        cycle = find_cycle(edges)
        if cycle:
            errors.append(f"{what}: a cycle: {' -> '.join(cycle + cycle[:1])}")
    if errors:
        return errors
    page = rtl_tree.read(PAGE)
    new = page
    for what, edges in graphs.items():
        new = replace(new, what, draw(edges))
    if "--update" in args:
        with open(os.path.join(rtl_tree.ROOT, PAGE), "w", encoding="utf-8") as f:
            f.write(new)
    elif "--check" in args and new != page:
        errors.append(f"{PAGE}: does not show the present modules; tools/draw_modules.py BUILD nm --update")
    elif "--check" not in args:
        print("\n\n".join("%s\n%s" % (what, draw(edges)) for what, edges in graphs.items()))
    return errors


if __name__ == "__main__":
    rtl_tree.main("draw_modules", lambda: run(sys.argv[1:]))
