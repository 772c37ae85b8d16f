import { ENVIRONMENT_SERVICE, type environmentProto as wire } from "@mrlm/wire";
import type { Connection } from "../connection/connection.ts";
import type { SessionTransport } from "./session-transport.ts";

/** Makes one unary call for each request. */
export class UnaryTransport implements SessionTransport {
  readonly #connection: Connection;
  readonly #waitMs: number;

  constructor(connection: Connection, waitMs: number) {
    this.#connection = connection;
    this.#waitMs = waitMs;
  }

  reset(request: wire.ResetRequest, signals: readonly AbortSignal[], trace?: string): Promise<wire.ResetResponse> {
    return this.#connection.unary(ENVIRONMENT_SERVICE.reset, request, { signals, waitMs: this.#waitMs, trace });
  }

  step(request: wire.StepRequest, signals: readonly AbortSignal[], trace?: string): Promise<wire.StepResponse> {
    return this.#connection.unary(ENVIRONMENT_SERVICE.step, request, { signals, waitMs: this.#waitMs, trace });
  }

  close(request: wire.CloseRequest, signals: readonly AbortSignal[]): Promise<wire.CloseResponse> {
    return this.#connection.unary(ENVIRONMENT_SERVICE.close, request, { signals, waitMs: 0 });
  }

  renew(request: wire.RenewRequest, signals: readonly AbortSignal[]): Promise<wire.RenewResponse> {
    return this.#connection.unary(ENVIRONMENT_SERVICE.renew, request, { signals, waitMs: 0 });
  }

  end(): void {}
}
