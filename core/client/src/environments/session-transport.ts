import type { environmentProto as wire } from "@mrlm/wire";

/**
 * How a session's requests reach the server. A request that was sent when the connection was lost is sent again on the next one; the
 * server answers it as it did, or would have done, the first time. Each signal cancels the request, on the wire too.
 */
export interface SessionTransport {
  reset(request: wire.ResetRequest, signals: readonly AbortSignal[]): Promise<wire.ResetResponse>;
  step(request: wire.StepRequest, signals: readonly AbortSignal[]): Promise<wire.StepResponse>;
  close(request: wire.CloseRequest, signals: readonly AbortSignal[]): Promise<wire.CloseResponse>;
  renew(request: wire.RenewRequest, signals: readonly AbortSignal[]): Promise<wire.RenewResponse>;
  end(): void;
}
