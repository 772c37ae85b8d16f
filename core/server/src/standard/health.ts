import { type ServerUnaryCall, type ServerWritableStream, type sendUnaryData, status } from "@grpc/grpc-js";
import { healthProto as wire } from "@mrlm/wire";

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = wire.HealthCheckResponse_ServingStatus;

/** Limit of watches, because they need no token and a client may leave them open. */
const MAX_WATCHERS = 1_024;

type Watcher = ServerWritableStream<wire.HealthCheckRequest, wire.HealthCheckResponse>;

/** Standard health service. Every known service has the state of the whole server. */
export class Health {
  readonly #services: ReadonlySet<string>;
  readonly #watchers = new Set<Watcher>();
  #isServing = true;

  /** @param services full names of the services */
  constructor(services: readonly string[]) {
    this.#services = new Set(["", ...services]);
  }

  /** Reports NOT_SERVING from now on. */
  stop(): void {
    this.#isServing = false;
    for (const watcher of this.#watchers) watcher.write(this.#stateOf(watcher.request.service));
  }

  /** Ends every watch. */
  close(): void {
    for (const watcher of this.#watchers) watcher.end();
  }

  readonly methods = {
    check: (
      { request: { service } }: ServerUnaryCall<wire.HealthCheckRequest, wire.HealthCheckResponse>,
      answer: sendUnaryData<wire.HealthCheckResponse>,
    ): void => {
      if (this.#services.has(service)) answer(null, this.#stateOf(service));
      else answer({ code: status.NOT_FOUND, details: `There is no service "${service}".` });
    },
    watch: (watcher: Watcher): void => {
      if (this.#watchers.size >= MAX_WATCHERS)
        return void watcher.emit("error", {
          code: status.RESOURCE_EXHAUSTED,
          details: `The server has ${MAX_WATCHERS} watches.`,
        });
      this.#watchers.add(watcher);
      watcher.on("cancelled", () => this.#watchers.delete(watcher));
      watcher.write(this.#stateOf(watcher.request.service));
    },
  };

  #stateOf(service: string): wire.HealthCheckResponse {
    return { status: !this.#services.has(service) ? SERVICE_UNKNOWN : this.#isServing ? SERVING : NOT_SERVING };
  }
}
