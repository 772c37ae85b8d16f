import { MrlmError } from "@mrlm/spec";
import type { Launcher, PartEvent, PartKind, PartProcess, RunPart } from "@mrlm/spec/host";
import type { Driver, DriverMessage, DriverProcess } from "./driver.ts";

type Report = (event: PartEvent) => void;

const GRACE_MS = 10_000;
/** Time for the driver beyond that of the processes: it leaves the cluster, and ends one of its own. */
const LEAVE_MS = 20_000;

interface Known {
  readonly kind: PartKind;
  readonly report: Report;
  process?: PartProcess;
}

/** Starts processes on a cluster of Ray, each beside an actor that holds its resources. */
export class RayLauncher implements Launcher {
  readonly #driver: Driver;
  readonly #known = new Map<string, Known>();
  readonly #counts = new Map<PartKind, number>();
  readonly #calls = new Map<number, (failed: string | undefined) => void>();
  #call = 0;
  #lost: string | undefined;
  #stopped: Promise<void> | undefined;

  constructor(driver: Driver) {
    this.#driver = driver;
    driver.listen((message) => this.#receive(message));
    void driver.ended.then((text) => this.#lose(text));
  }

  async start(parts: readonly RunPart[], onEvent: Report): Promise<void> {
    if (this.#stopped !== undefined) throw new MrlmError("LAUNCHER_FAILED", "The launcher was stopped.");
    if (this.#lost !== undefined) throw failure(this.#lost);
    const processes = parts.flatMap((part) => Array.from({ length: part.count }, () => this.#register(part, onEvent)));
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const call = ++this.#call;
    this.#calls.set(call, resolve);
    this.#driver.send({ start: call, processes });
    const failed = await promise;
    if (failed === undefined) return;
    for (const { id } of processes) this.#known.delete(id);
    throw failure(failed);
  }

  stop(graceMs = GRACE_MS): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  async #stop(graceMs: number): Promise<void> {
    this.#driver.send({ stop: graceMs });
    const timer = setTimeout(() => this.#driver.kill(), graceMs + LEAVE_MS);
    await this.#driver.ended;
    clearTimeout(timer);
  }

  #register(part: RunPart, report: Report): DriverProcess {
    const { kind, command, env = {}, cpus = 0, gpus = 0, memory = 0 } = part;
    const number = this.#counts.get(kind) ?? 0;
    this.#counts.set(kind, number + 1);
    const id = `${kind}-${number}`;
    this.#known.set(id, { kind, report });
    return { id, command, env, cpus, gpus, memory };
  }

  #receive({ called, failed, id, started, line, ended }: DriverMessage): void {
    if (called !== undefined) {
      this.#calls.get(called)?.(failed);
      this.#calls.delete(called);
    }
    const known = id === undefined ? undefined : this.#known.get(id);
    if (id === undefined || known === undefined) return;
    if (started !== undefined) {
      known.process = { id, kind: known.kind, ...started };
      known.report({ kind: "started", process: known.process });
    }
    if (known.process === undefined) return;
    if (line !== undefined) known.report({ kind: "output", process: known.process, line });
    if (ended === undefined) return;
    this.#known.delete(id);
    known.report({ kind: "ended", process: known.process, cause: ended });
  }

  /** Reports the end of all processes: those of a lost driver end with it. */
  #lose(text: string): void {
    this.#lost = text;
    for (const resolve of this.#calls.values()) resolve(text);
    this.#calls.clear();
    const left = [...this.#known.values()];
    this.#known.clear();
    for (const { process, report } of left)
      if (process !== undefined) report({ kind: "ended", process, cause: { kind: "unknown", message: text } });
  }
}

function failure(text: string): MrlmError {
  return new MrlmError("LAUNCHER_FAILED", `Ray could not start a process: ${text.replace(/\.$/, "")}.`);
}
