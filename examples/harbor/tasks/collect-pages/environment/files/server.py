"""python3 server.py PORT: an example of the service, on 127.0.0.1."""
import http.server
import json
import sys
from urllib.parse import parse_qs, urlparse

ITEMS = [{"id": at, "amount": at * 7 % 11, "state": "open" if at % 3 else "closed"} for at in range(1, 26)]
failed = set()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlparse(self.path)
        start = int(parse_qs(url.query).get("from", ["0"])[0])
        if start == 10 and start not in failed:
            failed.add(start)
            self.send_response(503)
            self.send_header("Retry-After", "0")
            self.end_headers()
            return
        body = {"items": ITEMS[start : start + 10]}
        if start + 10 < len(ITEMS):
            body["next"] = f"/items?from={start + 10}"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
