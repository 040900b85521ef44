"""Insert 400 rows into a database in one transaction."""

import hashlib
import os
import sqlite3

if os.path.exists("rows.db"):
    os.remove("rows.db")
database = sqlite3.connect("rows.db", isolation_level=None)
database.execute("create table rows (number integer primary key, digest text)")
database.execute("begin")
digest = b""
for number in range(400):
    for _ in range(300):
        digest = hashlib.sha256(digest).digest()
    database.execute("insert into rows values (?, ?)", (number, digest.hex()))
database.execute("commit")
print(database.execute("select count(*), max(digest) from rows").fetchone())
database.close()
