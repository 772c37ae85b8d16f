"""Starts and places processes on a cluster of Ray. @mrlm/launcher-ray starts it and exchanges JSON lines with it.

stdin: `{"init": {address, cpus}}` first, then `{"stop": MILLISECONDS}` and `{"start": CALL, "processes": [PROCESS]}`,
where a process is `{id, command, env, cpus, gpus, memory}`. The end of stdin stops everything: the process that has
the launcher has ended.
stdout: `{"ready": [NODES]}` or `{"unavailable": TEXT}`; `{"called": CALL}` or `{"called": CALL, "failed": TEXT}`;
events of processes `{"id", "started": {node, pid}}`, `{"id", "line"}`, `{"id", "ended": CAUSE}`; and `{"stopped":
true}` last. No data of a run passes through Ray: an actor holds the resources of one process, and reads its lines.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import queue
import socket
import subprocess
import sys
import threading
import time
import uuid
from typing import Any

ORPHAN_MS = 5_000
PLACE_SECONDS = 60
NODE_SECONDS = 1.0
LINE_LENGTH = 8_192
GUARD = (pathlib.Path(__file__).parent / "guard.py").read_text()

# Output of Ray must not mix with the answers.
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
lock = threading.Lock()

Message = dict[str, Any]


def send(message: Message) -> None:
    # The process that has the launcher may have ended.
    with lock, contextlib.suppress(OSError, ValueError):
        print(json.dumps(message), file=answers, flush=True)


class Runner:
    """Actor that holds the resources of one process, which its guard runs."""

    def __init__(self) -> None:
        self.events: queue.Queue[Message] = queue.Queue(maxsize=10_000)

    def start(self, guard: str, command: list[str], env: dict[str, str], directory: str, length: int) -> Message:
        """Starts the process. Returns its id, or the reason why it cannot be started."""
        if not os.path.isdir(directory):
            return {"failed": f"the directory {directory} does not exist"}
        read, write = os.pipe()
        self.guard = subprocess.Popen(
            [sys.executable, "-c", guard, str(write), uuid.uuid4().hex, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[write],
            cwd=directory,
            env={**os.environ, **env},
        )
        os.close(write)
        # The guard has become a process of its own, which has the pipes.
        self.guard.wait()
        status = os.fdopen(read, encoding="utf-8", errors="replace")
        kind, _, text = status.readline().rstrip("\n").partition(" ")
        if kind != "pid":
            return {"failed": text or "the guard of the process ended"}
        lines = threading.Thread(target=self.read_lines, args=[length], daemon=True)
        lines.start()
        threading.Thread(target=self.read_end, args=[status, lines], daemon=True).start()
        return {"pid": int(text)}

    def read_lines(self, length: int) -> None:
        assert self.guard.stdout is not None
        for line in self.guard.stdout:
            text = line.decode(errors="replace").rstrip("\r\n")[:length]
            self.events.put({"line": text})

    def read_end(self, status: Any, lines: threading.Thread) -> None:
        kind, _, text = status.readline().rstrip("\n").partition(" ")
        # Others may keep the pipe open.
        lines.join(0.5)
        if kind == "exit":
            cause: Message = {"kind": "exit", "code": int(text)}
        elif kind == "signal":
            cause = {"kind": "signal", "signal": text}
        else:
            cause = {"kind": "unknown", "message": "its guard was killed"}
        self.events.put({"ended": cause})

    def read(self) -> list[Message]:
        """Waits for the next events."""
        found = [self.events.get()]
        with contextlib.suppress(queue.Empty):
            while len(found) < 1_000:
                found.append(self.events.get_nowait())
        return found

    def stop(self, grace_ms: int) -> None:
        with contextlib.suppress(OSError):
            assert self.guard.stdin is not None
            self.guard.stdin.write(f"stop {grace_ms}\n".encode())
            self.guard.stdin.flush()


class Cluster:
    """Processes on a cluster, each with an actor, and a thread that reads its events."""

    def __init__(self, ray: Any, runner: Any) -> None:
        self.ray = ray
        self.runner = runner
        self.actors: dict[str, Any] = {}
        self.nodes: dict[str, Message] = {}
        self.threads: list[threading.Thread] = []
        self.changed = threading.Lock()
        threading.Thread(target=self.watch_nodes, daemon=True).start()

    def start(self, call: int, processes: list[Message]) -> None:
        actors: list[Any] = []
        try:
            for each in processes:
                actors.append(self.place(each))
            self.run(actors, processes)
        except Exception as error:
            for actor in actors:
                self.ray.kill(actor)
            send({"called": call, "failed": describe(error)})
        else:
            send({"called": call})

    def run(self, actors: list[Any], processes: list[Message]) -> None:
        """Starts the processes of placed actors, and the threads that read their events."""
        starts = [
            actor.start.remote(GUARD, each["command"], each["env"], os.getcwd(), LINE_LENGTH)
            for actor, each in zip(actors, processes, strict=True)
        ]
        _, waiting = self.ray.wait(starts, num_returns=len(starts), timeout=PLACE_SECONDS)
        if waiting:
            raise RuntimeError(f"{self.needs(processes[starts.index(waiting[0])])} did not become free")
        results = self.ray.get(starts)
        for result in results:
            if "failed" in result:
                raise RuntimeError(result["failed"])
        places = self.ray.get([actor.__ray_call__.remote(node_of) for actor in actors])
        known = {node["NodeID"]: node for node in self.ray.nodes()}
        for actor, each, result, place in zip(actors, processes, results, places, strict=True):
            node = known.get(place, {"NodeID": place, "NodeName": place})
            send({"id": each["id"], "started": {"node": node["NodeName"], "pid": result["pid"]}})
            with self.changed:
                self.actors[each["id"]] = actor
                self.nodes[each["id"]] = node
            thread = threading.Thread(target=self.follow, args=[each["id"], actor], daemon=True)
            thread.start()
            self.threads.append(thread)

    def place(self, process: Message) -> Any:
        """Creates the actor of a process. Raises where no machine is large enough."""
        wanted = {"CPU": process["cpus"], "GPU": process["gpus"], "memory": process["memory"]}
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        if not any(all(node.get(name, 0) >= count for name, count in wanted.items()) for node in nodes):
            raise RuntimeError(f"no machine of the cluster has {self.needs(process)}")
        memory = {"memory": process["memory"]} if process["memory"] > 0 else {}
        return self.runner.options(num_cpus=process["cpus"], num_gpus=process["gpus"], **memory).remote()

    def needs(self, process: Message) -> str:
        kind = process["id"].rpartition("-")[0]
        return f"{process['cpus']:g} CPUs, {process['gpus']:g} GPUs and {process['memory']} bytes for {kind}"

    def follow(self, name: str, actor: Any) -> None:
        """Sends the events of a process until its end, its actor's or its machine's."""
        while True:
            try:
                for event in self.ray.get(actor.read.remote()):
                    if "ended" in event:
                        return self.end(name, event["ended"])
                    send({"id": name, **event})
            except Exception as error:
                node = self.nodes[name]
                if is_lost(node):
                    return self.end(name, {"kind": "node_lost", "node": node["NodeName"]})
                return self.end(name, {"kind": "unknown", "message": describe(error)})

    def end(self, name: str, cause: Message) -> None:
        with self.changed:
            actor = self.actors.pop(name, None)
        if actor is None:
            return
        send({"id": name, "ended": cause})
        with contextlib.suppress(Exception):
            self.ray.kill(actor)

    def watch_nodes(self) -> None:
        """Ends the processes of machines that Ray has lost: their actors may not answer at all."""
        while True:
            time.sleep(NODE_SECONDS)
            with self.changed:
                running = list(self.actors)
            if not running:
                continue
            with contextlib.suppress(Exception):
                lost = {node["NodeID"] for node in self.ray.nodes() if not node["Alive"]}
                for name in running:
                    if self.nodes[name]["NodeID"] in lost:
                        self.end(name, {"kind": "node_lost", "node": self.nodes[name]["NodeName"]})

    def stop(self, grace_ms: int) -> None:
        with self.changed:
            actors = list(self.actors.values())
        for actor in actors:
            with contextlib.suppress(Exception):
                actor.stop.remote(grace_ms)
        end = time.monotonic() + grace_ms / 1000 + 5
        for thread in self.threads:
            thread.join(max(0, end - time.monotonic()))
        for name in list(self.actors):
            self.end(name, {"kind": "unknown", "message": "it did not answer to a stop"})


def describe(error: Exception) -> str:
    """Returns the first line of an error."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def node_of(_: Any) -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


def is_lost(node: Message) -> bool:
    """Whether the process of Ray on a machine refuses connections, which Ray itself states after about 15 s."""
    try:
        socket.create_connection((node["NodeManagerAddress"], node["NodeManagerPort"]), 2).close()
        return False
    except (OSError, KeyError):
        return True


def check_address(address: str) -> None:
    """Raises ConnectionError where nothing answers: Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), 5).close()
    except OSError as error:
        raise ConnectionError(f"nothing answers at {address}") from error


def open_cluster(options: Message) -> Cluster:
    # An idle process of Ray must not print into the log of the launcher.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    quiet = {"log_to_driver": False, "logging_level": "ERROR", "namespace": f"mrlm-{uuid.uuid4().hex}"}
    if options.get("address"):
        check_address(options["address"])
        ray.init(address=options["address"], **quiet)
    else:
        ray.init(num_cpus=options.get("cpus"), include_dashboard=False, object_store_memory=80 * 2**20, **quiet)
    # One thread waits for events while another one delivers a stop.
    return Cluster(ray, ray.remote(max_concurrency=4, max_restarts=0)(Runner))


def main() -> None:
    try:
        cluster = open_cluster(json.loads(sys.stdin.readline())["init"])
        send({"ready": [node["NodeName"] for node in cluster.ray.nodes() if node["Alive"]]})
    except Exception as error:
        return send({"unavailable": f"{type(error).__name__}: {error}"})
    grace_ms = ORPHAN_MS
    for line in sys.stdin:
        message = json.loads(line)
        if "stop" in message:
            grace_ms = message["stop"]
            break
        threading.Thread(target=cluster.start, args=[message["start"], message["processes"]], daemon=True).start()
    cluster.stop(grace_ms)
    cluster.ray.shutdown()
    send({"stopped": True})
    answers.flush()
    # Threads of Ray must not delay the end.
    os._exit(0)


if __name__ == "__main__":
    main()
