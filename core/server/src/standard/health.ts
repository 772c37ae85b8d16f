import { type ServerUnaryCall, type ServerWritableStream, type sendUnaryData, status } from "@grpc/grpc-js";
import { healthProto as wire } from "@mrlm/wire";

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = wire.HealthCheckResponse_ServingStatus;

/** Limit of watches, because they need no token and a client may leave them open. */
const MAX_WATCHERS = 1_024;

type Watcher = ServerWritableStream<wire.HealthCheckRequest, wire.HealthCheckResponse>;

/** Standard health service. The environments are services by their ids. */
export class Health {
  /** Whether each service serves, while the server does. */
  readonly #services: Map<string, boolean>;
  readonly #watchers = new Set<Watcher>();
  #isServing = true;

  /** @param services full names of the services, and ids of the environments */
  constructor(services: readonly string[]) {
    this.#services = new Map(["", ...services].map((service) => [service, true]));
  }

  /** Sets the state of one service, which may be new. */
  set(service: string, isServing: boolean): void {
    if (this.#services.get(service) === isServing) return;
    this.#services.set(service, isServing);
    this.#publish(service);
  }

  /** Reports NOT_SERVING for every service from now on. */
  stop(): void {
    this.#isServing = false;
    this.#publish();
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

  #publish(service?: string): void {
    for (const watcher of this.#watchers)
      if (service === undefined || watcher.request.service === service)
        watcher.write(this.#stateOf(watcher.request.service));
  }

  #stateOf(service: string): wire.HealthCheckResponse {
    const serves = this.#services.get(service);
    return { status: serves === undefined ? SERVICE_UNKNOWN : serves && this.#isServing ? SERVING : NOT_SERVING };
  }
}
