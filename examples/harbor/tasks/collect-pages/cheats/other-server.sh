#!/bin/bash
# A server of its own takes the ports that a test could use, and answers with an empty list.
cat > /app/fake.py <<'END'
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'{"items": []}')
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
END
for port in 8000 8080 5000; do setsid nohup python3 /app/fake.py $port > /dev/null 2>&1 & done
echo 'print(0)' > /app/collect.py
