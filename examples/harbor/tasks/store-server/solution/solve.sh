#!/bin/bash
cat > /app/store.py <<'END'
import re
import socketserver
import sqlite3
import sys
import threading

LOCK = threading.Lock()
INTEGER = re.compile(r"-?[0-9]+")
sys.set_int_max_str_digits(0)
database = sqlite3.connect(sys.argv[1], check_same_thread=False, isolation_level=None)
database.execute("pragma journal_mode = wal")
database.execute("pragma synchronous = off")
database.execute("create table if not exists pairs (key text primary key, value text)")


def get(key):
    row = database.execute("select value from pairs where key = ?", (key,)).fetchone()
    return None if row is None else row[0]


def put(key, value):
    if value is None:
        database.execute("delete from pairs where key = ?", (key,))
    else:
        database.execute("insert or replace into pairs values (?, ?)", (key, value))


def answer(line):
    verb, _, rest = line.partition(" ")
    parts = rest.split(" ")
    if verb == "SET" and " " in rest and parts[0]:
        put(*rest.split(" ", 1))
        return "OK"
    if not all(parts):
        return "ERROR"
    if verb == "GET" and len(parts) == 1:
        value = get(rest)
        return "NONE" if value is None else f"VALUE {value}"
    if verb == "DEL" and len(parts) == 1:
        put(rest, None)
        return "OK"
    if verb == "SWAP" and len(parts) == 2:
        first, second = map(get, parts)
        put(parts[0], second)
        put(parts[1], first)
        return "OK"
    if verb == "ADD" and len(parts) == 2 and INTEGER.fullmatch(parts[1]):
        value = get(parts[0])
        if INTEGER.fullmatch("0" if value is None else value):
            total = str(int(value or 0) + int(parts[1]))
            put(parts[0], total)
            return f"VALUE {total}"
    return "ERROR"


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            if line.endswith(b"\n"):
                with LOCK:
                    database.execute("begin immediate")
                    try:
                        text = answer(line[:-1].decode())
                    except UnicodeDecodeError:
                        text = "ERROR"
                    database.execute("commit")
                self.wfile.write(f"{text}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
END
