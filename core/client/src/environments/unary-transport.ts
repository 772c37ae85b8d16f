import { ENVIRONMENT_SERVICE, type environmentProto as wire } from "@mrlm/wire";
import type { ServerConnection } from "./connection.ts";
import type { SessionTransport } from "./session-transport.ts";

/** One unary call for each request. */
export class UnaryTransport implements SessionTransport {
  readonly #connection: ServerConnection;
  readonly #retryMs: number;

  constructor(connection: ServerConnection, retryMs: number) {
    this.#connection = connection;
    this.#retryMs = retryMs;
  }

  reset(request: wire.ResetRequest, signals: readonly AbortSignal[]): Promise<wire.ResetResponse> {
    return this.#connection.unary(ENVIRONMENT_SERVICE.reset, request, { signals, retryMs: this.#retryMs });
  }

  step(request: wire.StepRequest, signals: readonly AbortSignal[]): Promise<wire.StepResponse> {
    return this.#connection.unary(ENVIRONMENT_SERVICE.step, request, { signals, retryMs: this.#retryMs });
  }

  close(request: wire.CloseRequest, signals: readonly AbortSignal[]): Promise<wire.CloseResponse> {
    return this.#connection.unary(ENVIRONMENT_SERVICE.close, request, { signals, retryMs: 0 });
  }

  renew(request: wire.RenewRequest, signals: readonly AbortSignal[]): Promise<wire.RenewResponse> {
    return this.#connection.unary(ENVIRONMENT_SERVICE.renew, request, { signals, retryMs: 0 });
  }

  end(): void {}
}
