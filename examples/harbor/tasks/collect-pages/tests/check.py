import http.server
import json
import threading
import time

PAGES, log = {}, []


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        log.append((self.path, time.monotonic()))
        answers = PAGES.get(self.path, [(404, {}, "")])
        status, headers, body = answers.pop(0) if len(answers) > 1 else answers[0]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"


def page(items, following="none"):
    items = [{"id": name, "amount": amount, "state": state} for name, amount, state in items]
    return 200, {}, json.dumps({"items": items} if following == "none" else {"items": items, "next": following})


def check(first, pages, correct, least=None):
    PAGES.clear()
    PAGES.update({path: list(answers) for path, answers in pages.items()})
    log.clear()
    code, out, err = run(["/usr/bin/python3", "/app/collect.py", base + first], seconds=60)
    right = (0, f"{correct}\n") if correct is not None else (1, "")
    expect((code, out) == right, f"{first}: exit code {code} and {out!r}, not {right}: {err[-300:]}")
    for path in pages:
        asked = [when for where, when in log if where == path]
        expect(least is None or path not in least or asked[1] - asked[0] >= least[path], f"{path} was asked again too early")
        expect(len(asked) <= 5, f"{path} was asked {len(asked)} times")


again = (503, {"Retry-After": "0"}, "")
check("/a/b?x=1", {"/a/b?x=1": [page([(1, 5, "open"), (2, 7, "closed")], "c?y")], "/a/c?y": [page([(1, 99, "open"), (2, 3, "open"), (3, -2, "open")], "/d")],
      "/d": [page([(6, 40, "open"), (4, 10**20, "open"), (5, 1, "Open")], None)]}, 5 - 2 + 40 + 10**20)
check("/e", {"/e": [page([(1, 1, "open")], f"{base}/f")], "/f": [again, again, again, again, page([(2, 2, "open")], "?z")], "/f?z": [page([(3, 4, "open")])]}, 7)
check("/g", {"/g": [(503, {"Retry-After": "2"}, ""), (503, {}, ""), page([(1, 1, "open")])]}, 1, least={"/g": 2})
check("/h", {"/h": [page([])]}, 0)
check("/i", {"/i": [again] * 9}, None)
check("/j", {"/j": [page([(1, 1, "open")], "/k")], "/k": [(500, {}, "{}")]}, None)
check("/l", {"/l": [page([(1, 1, "open")], "/m")], "/m": [(200, {}, "not JSON")]}, None)
check("/n", {"/n": [page([(1, 1, "open")], "/o")], "/o": [page([(2, 1, "open")], "n")]}, None)
check("/p", {"/p": [(200, {}, "[1]")]}, None)
