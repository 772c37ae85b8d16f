#!/bin/bash
# A store in memory, which loses all at its end.
cat > /app/store.py <<'END'
import socketserver
data = {}
class H(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            verb, _, rest = line.decode().rstrip("\n").partition(" ")
            key, _, text = rest.partition(" ")
            out = "OK"
            if verb == "GET": out = f"VALUE {data[key]}" if key in data else "NONE"
            elif verb == "SET": data[key] = text
            elif verb == "DEL": data.pop(key, None)
            elif verb == "ADD": data[key] = str(int(data.get(key, 0)) + int(text)); out = "VALUE " + data[key]
            self.wfile.write((out + "\n").encode())
s = socketserver.ThreadingTCPServer(("127.0.0.1", 0), H); print(s.server_address[1], flush=True); s.serve_forever()
END
