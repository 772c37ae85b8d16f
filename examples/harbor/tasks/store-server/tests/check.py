import random
import socket
import threading

servers = []


def serve(path):
    process = start(["/usr/bin/python3", "/app/store.py", path], stdout=subprocess.PIPE)
    servers.append(process)
    line = b""
    timer = threading.Timer(30, process.kill)
    timer.start()
    while not line.endswith(b"\n"):
        byte = process.stdout.read(1)
        expect(byte and len(line) < 20, f"the server printed {line!r} instead of a port")
        line += byte
    timer.cancel()
    expect(line.strip().isdigit() and 0 < int(line) < 65536, f"the server printed {line!r} instead of a port")
    return process, int(line)


class Client:
    def __init__(self, port):
        try:
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        except OSError as error:
            raise Wrong(f"the server does not accept a connection: {error}") from error
        self.left = b""

    def send(self, *lines):
        try:
            self.socket.sendall("".join(f"{line}\n" for line in lines).encode())
        except OSError as error:
            raise Wrong(f"the server closed the connection: {error}") from error

    def receive(self):
        while b"\n" not in self.left:
            try:
                part = self.socket.recv(65536)
            except OSError as error:
                raise Wrong(f"the server does not answer: {error}") from error
            expect(part and len(self.left) < 2**20, "the server closed the connection")
            self.left += part
        line, self.left = self.left.split(b"\n", 1)
        return line.decode(errors="replace")

    def ask(self, line):
        self.send(line)
        return self.receive()

    def talk(self, *pairs):
        for request, answer in pairs:
            got = self.ask(request)
            expect(got == answer, f"{request!r} was answered by {got!r}, not {answer!r}")


root = fresh({"x": b""})
process, port = serve(f"{root}/db")
idle = Client(port)
idle.socket.sendall(b"SET half")
client = Client(port)
big = str(10**40)
client.talk(
    ("GET a", "NONE"), ("SET a one  two ", "OK"), ("GET a", "VALUE one  two "), ("ADD a 1", "ERROR"), ("GET a", "VALUE one  two "), ("SET e ", "OK"), ("GET e", "VALUE "), ("ADD e 1", "ERROR"),
    ("ADD n 5", "VALUE 5"), ("ADD n -7", "VALUE -2"), (f"ADD n {big}", f"VALUE {10**40 - 2}"), ("ADD n 1.5", "ERROR"), ("ADD n +1", "ERROR"), ("ADD n ", "ERROR"), ("ADD n \u0661", "ERROR"),
    ("SET z 007", "OK"), ("ADD z 1", "VALUE 8"), ("SWAP a n", "OK"), ("GET n", "VALUE one  two "), ("GET a", f"VALUE {10**40 - 2}"), ("SWAP a none", "OK"), ("GET a", "NONE"),
    ("GET none", f"VALUE {10**40 - 2}"), ("SWAP q r", "OK"), ("GET q", "NONE"), ("SWAP z z", "OK"), ("GET z", "VALUE 8"), ("DEL z", "OK"), ("DEL z", "OK"), ("GET z", "NONE"), ("", "ERROR"), ("get a", "ERROR"), ("GET", "ERROR"),
    ("GET a b", "ERROR"), ("SET a", "ERROR"), ("SET  x", "ERROR"), ("SWAP a", "ERROR"), ("DEL", "ERROR"), ("SET zürich é", "OK"), ("GET zürich", "VALUE é"), ("ADD x 1 ", "ERROR"),
)
client.send(*[f"ADD m {at}" for at in range(2000)])
sums = [client.receive() for _ in range(2000)]
expect(sums == [f"VALUE {at * (at + 1) // 2}" for at in range(2000)], "requests that were sent together were not answered in order")
for part in ("SE", "T p", " x\nGET", " p\n"):
    client.socket.sendall(part.encode())
expect([client.receive(), client.receive()] == ["OK", "VALUE x"], "parts of lines were not joined")
half = Client(port)
half.socket.sendall(b"SET half-done 1")
half.socket.close()
faults = []


def add(amount):
    try:
        own = Client(port)
        for _ in range(150):
            own.ask(f"ADD sum {amount}")
            own.ask("SWAP left right")
    except Wrong as wrong:
        faults.append(wrong)


client.talk(("SET left 1", "OK"), ("SET right 2", "OK"))
threads = [threading.Thread(target=add, args=(amount,)) for amount in range(1, 9)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expect(not faults, f"{faults[:1]}")
client.talk(("GET sum", f"VALUE {150 * 36}"), ("GET half-done", "NONE"), ("GET left", "VALUE 1"), ("GET right", "VALUE 2"))

rng = random.Random(71)
known = {"sum": 150 * 36, "a": 1, "b": 2}
client.talk(("SET a 1", "OK"), ("SET b 2", "OK"))
for _ in range(6):
    sent = rng.randrange(20, 200)
    client.send(*["SWAP a b" if at % 3 == 0 else "ADD sum 1" for at in range(sent)])
    answered = rng.randrange(sent)
    for _ in range(answered):
        client.receive()
    process.kill()
    process.wait()
    process, port = serve(f"{root}/db")
    client = Client(port)
    total = client.ask("GET sum")
    adds = [sum(at % 3 != 0 for at in range(count)) for count in (answered, sent)]
    expect(total.startswith("VALUE ") and total[6:].isdigit() and known["sum"] + adds[0] <= int(total[6:]) <= known["sum"] + adds[1], f"after SIGKILL the sum is {total}")
    known["sum"] = int(total[6:])
    pair = [client.ask("GET a"), client.ask("GET b")]
    expect(sorted(pair) == ["VALUE 1", "VALUE 2"], f"after SIGKILL a and b are {pair}")
    client.talk(("GET zürich", "VALUE é"), ("GET n", "VALUE one  two "), ("GET z", "NONE"), ("GET e", "VALUE "), ("GET half", "NONE"))
