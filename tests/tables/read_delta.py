#!/usr/bin/env python3
"""Reads the log of a Delta Lake table by the text of the protocol, knowing nothing of Baton.

    read_delta.py TABLE        prints the newest version, one line a fact, or says what is wrong

Only entries in JSON are read: the checks are on each of them, from the first.
"""
import json
import os
import re
import sys
import urllib.parse


def fail(why):
    print("wrong: " + why)
    sys.exit(1)


def check(holds, why):
    if not holds:
        fail(why)


TYPES = {"boolean", "byte", "short", "integer", "long", "float", "double", "string", "binary",
         "date", "timestamp"}
FORMS = {
    "date": r"\d{4}-\d\d-\d\d",
    "timestamp": r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?Z?",
    "boolean": "true|false",
    "byte": r"-?\d+", "short": r"-?\d+", "integer": r"-?\d+", "long": r"-?\d+",
}


def check_type(kind):
    if isinstance(kind, str):
        decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", kind)
        check(kind in TYPES or decimal, "unknown type " + kind)
        if decimal:
            check(1 <= int(decimal[1]) <= 38 and int(decimal[2]) <= int(decimal[1]), kind)
    elif kind["type"] == "array":
        check(isinstance(kind["containsNull"], bool), "containsNull")
        check_type(kind["elementType"])
    else:
        check(kind["type"] == "struct", "unknown type " + str(kind["type"]))
        for field in kind["fields"]:
            check(set(field) == {"name", "type", "nullable", "metadata"}, "fields of a field")
            check_type(field["type"])


class Table:
    def __init__(self, path):
        self.path = path
        self.files = {}
        self.removed = {}
        self.transactions = {}
        self.protocol = None
        self.metadata = None
        self.columns = {}

    def apply(self, version, text):
        check(text.endswith("\n"), "an entry without an end")
        seen = set()
        for line in text.splitlines():
            action = json.loads(line)
            check(len(action) == 1, "a line with several actions")
            (name, value), = action.items()
            getattr(self, "on_" + name)(value, version)
            if name in ("add", "remove"):
                check(value["path"] not in seen, "a path twice in one entry")
                seen.add(value["path"])

    def on_protocol(self, value, version):
        check(value["minReaderVersion"] == 1 and value["minWriterVersion"] == 2, "protocol")
        self.protocol = value

    def on_metaData(self, value, version):
        check(re.fullmatch(r"[0-9a-f-]{36}", value["id"]), "an id that is no UUID")
        check(value["format"] == {"provider": "parquet", "options": {}}, "format")
        schema = json.loads(value["schemaString"])
        check_type(schema)
        self.columns = {field["name"]: field["type"] for field in schema["fields"]}
        for name in value["partitionColumns"]:
            check(name in self.columns, "a partition by no column")
        check(all(isinstance(v, str) for v in value["configuration"].values()), "configuration")
        self.metadata = value

    def on_commitInfo(self, value, version):
        check(isinstance(value["timestamp"], int) and value["operation"], "commitInfo")

    def on_txn(self, value, version):
        before = self.transactions.get(value["appId"], -1)
        check(value["version"] > before, "a transaction that is not newer")
        self.transactions[value["appId"]] = value["version"]

    def on_remove(self, value, version):
        check(value["path"] in self.files, "a removal of a file that is not there")
        check(isinstance(value["deletionTimestamp"], int), "deletionTimestamp")
        check(isinstance(value["dataChange"], bool), "dataChange")
        self.removed[value["path"]] = self.files.pop(value["path"])

    def on_add(self, value, version):
        check(value["path"] not in self.files, "a file that is there already")
        partition = value["partitionValues"]
        check(set(partition) == set(self.metadata["partitionColumns"]), "partitionValues")
        for name, text in partition.items():
            if text is None:
                continue
            check(text != "", "an empty value of a partition")
            form = FORMS.get(self.columns[name]) if isinstance(self.columns[name], str) else None
            check(not form or re.fullmatch(form, text), "a value of a partition: " + text)
        for key in ("size", "modificationTime"):
            check(isinstance(value[key], int) and value[key] >= 0, key)
        check(isinstance(value["dataChange"], bool), "dataChange")
        if "stats" in value:
            self.check_statistics(json.loads(value["stats"]))
        check(all(isinstance(v, str) for v in value.get("tags", {}).values()), "tags")
        self.files[value["path"]] = value

    def check_statistics(self, stats):
        check(isinstance(stats["numRecords"], int), "numRecords")
        lows, highs = stats.get("minValues", {}), stats.get("maxValues", {})
        for values in (lows, highs, stats.get("nullCount", {})):
            for name in values:
                check(name in self.columns, "statistics of no column")
                check(name not in self.metadata["partitionColumns"], "statistics of a partition")
        for name in lows.keys() & highs.keys():
            low, high = lows[name], highs[name]
            if isinstance(low, str) and self.columns[name] == "string":
                low, high = low.encode(), high.encode()
            if not isinstance(low, str):
                check(low <= high, "a minimum above the maximum of " + name)
            if self.columns[name] == "timestamp":
                check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", low), low)
                check(low <= high, "a minimum above the maximum of " + name)

    def facts(self, version):
        yield "version %d" % version
        for name, kind in self.columns.items():
            yield "column %s %s" % (name, kind if isinstance(kind, str) else kind["type"])
        for name in self.metadata["partitionColumns"]:
            yield "by " + name
        for application, number in sorted(self.transactions.items()):
            yield "txn %s %d" % (application, number)
        for path, add in sorted((urllib.parse.unquote(p), a) for p, a in self.files.items()):
            check(os.path.isfile(os.path.join(self.path, path)), "no file " + path)
            check(os.path.getsize(os.path.join(self.path, path)) == add["size"], "size of " + path)
            rows = json.loads(add["stats"])["numRecords"] if "stats" in add else -1
            values = ",".join("%s=%s" % (k, "NULL" if v is None else v)
                              for k, v in sorted(add["partitionValues"].items()))
            yield "file %s rows %d partition %s" % (path, rows, values)


def main():
    table = Table(sys.argv[1])
    log = os.path.join(table.path, "_delta_log")
    entries = sorted(n for n in os.listdir(log) if re.fullmatch(r"\d{20}\.json", n))
    for version, name in enumerate(entries):
        check(int(name[:20]) == version, "version %d is missing" % version)
        with open(os.path.join(log, name), encoding="utf-8") as file:
            table.apply(version, file.read())
        check(table.protocol and table.metadata, "a table without a protocol or a schema")
    for fact in table.facts(len(entries) - 1):
        print(fact)


main()
