import { type Attributes, metrics, type BatchObservableCallback, type Observable } from "@opentelemetry/api";
import { isErrorCode, MrlmError } from "@mrlm/spec";
import type { Capacity } from "./capacity.ts";

/** Call of an environment that is measured. */
export type MeasuredPhase = "reset" | "step" | "close";

/** Whether requests of a kind are calls that are measured. */
export function isMeasured(kind: string): kind is MeasuredPhase {
  return kind === "reset" || kind === "step" || kind === "close";
}

/** State of a server that is read when its metrics are. */
export interface ObservedServer {
  readonly capacity: Capacity;
  /** Ids of the environments. */
  readonly environments: readonly string[];
  /** Names of the clients that have a token. */
  clients(): readonly string[];
  /** Responses that wait for slow clients, in bytes. */
  bufferedBytes(): number;
}

/** Buckets of durations in seconds: from an environment that computes nothing to one that waits for minutes. */
const SECONDS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300];

/**
 * Instruments of a server by OpenTelemetry. They do nothing while the process has no SDK of metrics; one must be registered before the first server is made.
 */
export class ServerMetrics {
  readonly #meter = metrics.getMeter("@mrlm/server");
  readonly #duration = this.#meter.createHistogram("mrlm.server.call.duration", {
    description: "Time of an environment for a call, without the wait for a place",
    unit: "s",
    advice: { explicitBucketBoundaries: SECONDS },
  });
  readonly #wait = this.#meter.createHistogram("mrlm.server.queue.wait", {
    description: "Wait of a session for a place",
    unit: "s",
    advice: { explicitBucketBoundaries: SECONDS },
  });
  readonly #errors = this.#meter.createCounter("mrlm.server.errors", { description: "Calls that failed, by code" });
  readonly #refused = this.#meter.createCounter("mrlm.server.unauthenticated", {
    description: "gRPC calls without a valid token",
  });
  readonly #malformedTraces = this.#meter.createCounter("mrlm.server.malformed.traces", {
    description: "Requests whose traceparent is malformed and ignored",
  });
  readonly #restarts = this.#meter.createCounter("mrlm.server.worker.restarts", {
    description: "Workers that ended and were started again",
  });
  readonly #gauges = {
    sessions: this.#gauge("mrlm.server.sessions", "Open sessions by environment"),
    queued: this.#gauge("mrlm.server.queue.length", "Sessions that wait for a place, by environment"),
    clientSessions: this.#gauge("mrlm.server.client.sessions", "Open sessions by the name of the client's token"),
    clientQueued: this.#gauge("mrlm.server.client.queue.length", "Sessions that wait for a place, by client"),
    limit: this.#gauge("mrlm.server.sessions.limit", "Largest number of open sessions"),
    buffered: this.#gauge("mrlm.server.buffered", "Responses that wait for slow clients", "By"),
    draining: this.#gauge("mrlm.server.draining", "1 while the server stops"),
  };
  readonly #servers = new Set<ObservedServer>();
  /** One object for each environment and phase: a step allocates none. */
  readonly #attributes = new Map<string, Attributes>();

  /** Records a call of an environment that began at this time of `performance.now()`. */
  called(environment: string, phase: MeasuredPhase, startedMs: number): void {
    this.#duration.record((performance.now() - startedMs) / 1000, this.#of(environment, phase));
  }

  /** Counts a failed call. @param environment empty for a call that reached none @param failure an error, or its code */
  failed(environment: string, phase: MeasuredPhase, failure: unknown): void {
    const code = MrlmError.isInstance(failure) ? failure.code : String(failure);
    // Other versions and plugins may have codes of their own, any number of them.
    this.#errors.add(1, { ...this.#of(environment, phase), code: isErrorCode(code) ? code : "INTERNAL" });
  }

  /** Counts a request whose `traceparent` is ignored. */
  malformedTrace(): void {
    this.#malformedTraces.add(1);
  }

  /** Records the wait of a session for a place that began at this time of `performance.now()`. */
  waited(startedMs: number): void {
    this.#wait.record((performance.now() - startedMs) / 1000);
  }

  /** Counts a call without a valid token. */
  unauthenticated(): void {
    this.#refused.add(1);
  }

  /** Counts a worker that was started again. */
  restarted(): void {
    this.#restarts.add(1);
  }

  /** Reads the state of a server with each export; several servers of the same sessions are one. @returns a function that ends this */
  observe(server: ObservedServer): () => void {
    this.#servers.add(server);
    if (this.#servers.size === 1) this.#meter.addBatchObservableCallback(this.#read, Object.values(this.#gauges));
    return () => {
      this.#servers.delete(server);
      if (this.#servers.size === 0) this.#meter.removeBatchObservableCallback(this.#read, Object.values(this.#gauges));
    };
  }

  readonly #read: BatchObservableCallback = (result) => {
    const { sessions, queued, clientSessions, clientQueued, limit, buffered, draining } = this.#gauges;
    let bytes = 0;
    for (const { capacity, environments, clients, bufferedBytes } of this.#servers) {
      bytes += bufferedBytes();
      for (const environment of environments) {
        const use = capacity.use(environment);
        result.observe(sessions, use.sessions, { environment });
        result.observe(queued, use.queued, { environment });
      }
      for (const client of clients()) {
        const use = capacity.useOfClient(client);
        result.observe(clientSessions, use.sessions, { client });
        result.observe(clientQueued, use.queued, { client });
      }
      result.observe(limit, capacity.limits.sessions);
      result.observe(draining, capacity.isDraining ? 1 : 0);
    }
    result.observe(buffered, bytes);
  };

  #gauge(name: string, description: string, unit?: string): Observable {
    return this.#meter.createObservableGauge(name, { description, ...(unit !== undefined && { unit }) });
  }

  #of(environment: string, phase: MeasuredPhase): Attributes {
    const key = `${phase} ${environment}`;
    let attributes = this.#attributes.get(key);
    if (attributes === undefined) {
      attributes = { environment, phase };
      this.#attributes.set(key, attributes);
    }
    return attributes;
  }
}
