import { Calls, type Channel } from "@mrlm/process";
import type { EnvironmentDescription } from "@mrlm/spec/host";
import type { Caller } from "../service/caller.ts";
import type { Death } from "./death.ts";
import type { FramedStream } from "./framed-stream.ts";
import type { WorkerEnd } from "./worker-end.ts";
import { type LinkAddress, openLink } from "./link.ts";
import type { FromWorker, ToWorker, WorkerCalls } from "./worker-messages.ts";

/** Process of a worker, as its starter supervises it. */
export interface WorkerProcess {
  readonly pid: number;
  readonly link: LinkAddress;
  readonly channel: Channel;
  readonly ended: Promise<WorkerEnd>;
  /** Ends the process at once. @param reason added to its end */
  kill(reason?: string): void;
}

/** Starts the process of a worker. @param name of the worker, for its output: `worker 1` */
export type StartWorker = (name: string) => WorkerProcess;

/** Process that hosts environments for the server process. */
export class EnvironmentWorker {
  readonly name: string;
  readonly process: WorkerProcess;
  /** Settles when it has loaded its plugins and listens. Rejects with the reason if it does not. */
  readonly ready: Promise<readonly EnvironmentDescription[]>;
  /** Resolves after its end, when all that it had sent has been read. */
  readonly death: Promise<Death>;
  /** Sessions that are routed to it. */
  sessions = 0;
  isReady = false;
  isDead = false;
  /** The server process has requested its end. */
  isStopping = false;
  /** Leases of its sessions that have ended. */
  expired = 0;
  /** Time of its latest sign of life, in milliseconds of `performance.now()`. */
  aliveAt = performance.now();
  /** Suspected session whose request is under way. */
  tested: object | undefined;
  readonly #tests: { readonly session: object; readonly begin: () => void }[] = [];
  readonly #links = new Set<FramedStream>();
  readonly #calls: Calls<WorkerCalls>;
  readonly #resolveDeath: (death: Death) => void;

  constructor(
    name: string,
    process: WorkerProcess,
    {
      onEnded,
      startMs,
    }: {
      /** Receives the keys of sessions that it no longer has. */
      readonly onEnded: (worker: EnvironmentWorker, sessions: readonly string[]) => void;
      readonly startMs: number;
    },
  ) {
    this.name = name;
    this.process = process;
    const death = Promise.withResolvers<Death>();
    this.death = death.promise;
    this.#resolveDeath = death.resolve;
    const ready = Promise.withResolvers<readonly EnvironmentDescription[]>();
    this.ready = ready.promise;
    this.ready.catch(() => undefined);
    const timer = setTimeout(() => process.kill(`it was not ready after ${startMs / 1000} s`), startMs);
    this.ready.then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
    const { channel, ended } = process;
    this.#calls = new Calls(channel, (body) => {
      const message = body as FromWorker;
      this.aliveAt = performance.now();
      if (message.type !== "ended") return;
      this.expired = message.expired;
      onEnded(this, message.sessions);
    });
    this.#calls.call("start", []).then(
      (environments) => {
        this.aliveAt = performance.now();
        this.isReady = !this.isDead;
        ready.resolve(environments);
      },
      // The end of the process has a better description.
      (error: unknown) => channel.closed.aborted || ready.reject(error),
    );
    void ended.then(({ exitCode, signal, reason }) => {
      this.isDead = true;
      this.isReady = false;
      const how = reason ?? (signal === null ? `it ended with exit code ${exitCode}` : `it ended by ${signal}`);
      ready.reject(new Error(how));
    });
  }

  /** Opens a stream for the requests of a client. */
  open(caller: Caller): FramedStream {
    const stream = openLink(this.process.link, caller);
    this.#links.add(stream);
    stream.on("close", () => this.#links.delete(stream));
    return stream;
  }

  /** Whether a stream holds responses that have not been read. */
  get isDrained(): boolean {
    return this.#links.size === 0;
  }

  /** Begins a request of a suspected session when no other such request is under way. @returns a function to call at its end */
  test(session: object, begin: () => void): () => void {
    const test = { session, begin };
    this.#tests.push(test);
    const next = (): void => {
      const [first] = this.#tests;
      this.tested = first?.session;
      first?.begin();
    };
    if (this.#tests.length === 1) next();
    return () => {
      const isFirst = this.#tests[0] === test;
      const at = this.#tests.indexOf(test);
      if (at !== -1) this.#tests.splice(at, 1);
      if (isFirst) next();
    };
  }

  /** Reports the consequences of its end. */
  settle(death: Death): void {
    this.#resolveDeath(death);
  }

  /** Calls its host. Rejects with an error of no code when it ends before. */
  async call<M extends keyof WorkerCalls>(
    method: M,
    given: Parameters<WorkerCalls[M]>,
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<WorkerCalls[M]>>> {
    signal?.throwIfAborted();
    return (await this.#calls.call(method, given as never, { signal })) as Awaited<ReturnType<WorkerCalls[M]>>;
  }

  send(message: ToWorker): void {
    this.#calls.notify(message);
  }
}
