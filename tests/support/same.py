# SPDX-License-Identifier: MIT
"""same.py - whether two databases have the same rows, but for ids that their writer chose

Ids of strings, shapes and threads are replaced by what they stand for. Those of calls, markers and threads' rows keep their
order only: they are replaced by their rank.
"""
import sqlite3

STRINGS = {"apiName_id", "category_id", "domain_id", "description_id", "opType_id", "kernelName_id"}
# rows of calls, markers and threads
ROWS = {"api_id", "api_ptr_id", "roctxId", "marker_id"}
ROW_ID = {("rocpd_api", "id"), ("rtl_marker_data", "api_id"), ("rtl_marker_data", "parent_id")}
# numbers in the order of writing, which nothing refers to
NUMBERS = {("rtl_clock", "id"), ("rtl_info", "id"), ("rtl_loss_data", "id"), ("rtl_thread", "id"), ("rocpd_metadata", "id"),
           ("rtl_process", "id_last"), ("rtl_process", "spool"), ("rtl_shape", "id")}
APART = {"rocpd_string", "rocpd_ustring", "rtl_shape", "rtl_launch", "sqlite_sequence"}
# of the columns rtl_... of RPD's tables
VIEWS = ("rocpd_api_ops", "rocpd_kernelapi", "rtl_api_data", "rtl_op_kernel")


class Side:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.strings = dict(self.db.execute("select id, string from rocpd_string"))
        self.ustrings = dict(self.db.execute("select id, string from rocpd_ustring"))
        self.shapes = {r[0]: r[1:] for r in self.db.execute("select * from rtl_shape")}
        self.threads = dict(self.db.execute("select id, tid from rtl_thread"))
        self.tables = [n for (n,) in self.db.execute(f"select name from sqlite_master where type = 'table' or name in {VIEWS} order by 1")]
        self.rank = {space: self.rank_ids(space) for space in ("row", "call")}

    def columns(self, table):
        names = [r[1] for r in self.db.execute(f'pragma table_info("{table}")')]
        return [n for n in names if not (table.startswith("rocpd_") and n.startswith("rtl_"))]

    def space(self, table, column):
        """Which numbers the column has: those of rows, or those of calls, which need not have a row."""
        if (table, column) in ROW_ID or column in ROWS:
            return "row"
        return "call" if column in ("correlation_id", "parent_id") else None

    def rank_ids(self, space):
        ids = set()
        for table in self.tables:
            for column in self.columns(table):
                if self.space(table, column) == space:
                    ids |= {v for (v,) in self.db.execute(f'select distinct "{column}" from "{table}"')}
        return {v: i for i, v in enumerate(sorted(ids - {None}, key=int))}

    def value(self, table, column, v):
        if (table, column) in NUMBERS:
            return None
        if column in STRINGS:
            return self.strings[v]
        if column == "args_id":
            return self.ustrings[v]
        if column == "shape_id":
            return self.shapes[v]
        if column == "thread_id":
            return self.threads[v]
        space = self.space(table, column)
        return self.rank[space][v] if space and v is not None else v

    def rows(self, table):
        names = self.columns(table)
        for row in self.db.execute('select {} from "{}"'.format(", ".join(f'"{n}"' for n in names), table)):
            if table == "rocpd_metadata" and (row[1].startswith("rtl_") or row[1] == "session_count"):
                continue
            yield tuple(self.value(table, n, v) for n, v in zip(names, row))


def differences(a, b):
    """Texts, the first few of each table: none if the databases have the same rows."""
    a, b = Side(a), Side(b)
    found = []
    if a.tables != b.tables:
        found.append(f"tables {sorted(set(a.tables) ^ set(b.tables))}")
    for name, left, right in (("rocpd_string", a.strings, b.strings), ("rocpd_ustring", a.ustrings, b.ustrings),
                              ("rtl_shape", a.shapes, b.shapes)):
        for text in sorted(map(str, set(left.values()) ^ set(right.values())))[:3]:
            found.append(f"{name}: {text}")
    for table in sorted((set(a.tables) & set(b.tables)) - APART):
        left, right = sorted(a.rows(table), key=repr), sorted(b.rows(table), key=repr)
        if left != right:
            found.append(f"{table}: {len(left)} and {len(right)} rows")
            found += [f"{table}: {x}" for x in sorted(set(left) ^ set(right), key=repr)[:4]]
    return found
