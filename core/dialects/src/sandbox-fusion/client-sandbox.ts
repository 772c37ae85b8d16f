import { Admission } from "@mrlm/server/sessions";
import type { Sandbox, SandboxResult } from "@mrlm/spec";
import type { Submission } from "@mrlm/spec/host";

/** Programs that may wait for a place. */
const QUEUE = 1_024;
/** Longest wait for a place. */
const QUEUE_MS = 600_000;

/** Use of a sandbox by the clients of a server. */
export interface ClientSandboxOptions {
  /** Whether environments of the server run code in the same sandbox. Programs of clients then have half of its children. */
  readonly isShared?: boolean;
  /** Number of names that clients may have; Infinity where they are addresses of any machine. One of several has at most half of the places. Default: all clients are one. */
  clientCount?(): number;
}

/** Sandbox in which clients run programs. Places are granted to the names of the clients in turn. */
export class ClientSandbox {
  readonly #sandbox: Sandbox;
  readonly #admission: Admission;

  constructor(sandbox: Sandbox, { isShared = false, clientCount = () => 1 }: ClientSandboxOptions = {}) {
    const { children = 1 } = sandbox;
    const places = isShared ? half(children) : children;
    this.#sandbox = sandbox;
    this.#admission = new Admission({
      places,
      get placesPerClient() {
        return clientCount() > 1 ? half(places) : places;
      },
      unit: "programs",
      queue: QUEUE,
      queueMs: QUEUE_MS,
    });
  }

  get limits(): Sandbox["limits"] {
    return this.#sandbox.limits;
  }

  /** Number of programs that run at the same time. */
  get places(): number {
    return this.#admission.limits.places;
  }

  /** Runs a program. Rejects as `Sandbox.run` does, and with the reason of an aborted signal. @param client name of the client, or its address */
  async run(client: string, submission: Submission, signal: AbortSignal): Promise<SandboxResult> {
    const applicant = { client, environment: this.#sandbox.language };
    await this.#admission.enter(applicant, signal);
    try {
      return await this.#sandbox.run(submission, { signal });
    } finally {
      this.#admission.leave(applicant);
    }
  }
}

function half(count: number): number {
  return Math.max(1, Math.floor(count / 2));
}
