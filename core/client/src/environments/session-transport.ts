import type { environmentProto as wire } from "@mrlm/wire";

/**
 * Transport of a session's requests. After a connection loss a request without a response is sent again; the server carries it out
 * once and repeats its response. Each signal cancels the request, on the wire too.
 */
export interface SessionTransport {
  reset(request: wire.ResetRequest, signals: readonly AbortSignal[], trace?: string): Promise<wire.ResetResponse>;
  step(request: wire.StepRequest, signals: readonly AbortSignal[], trace?: string): Promise<wire.StepResponse>;
  close(request: wire.CloseRequest, signals: readonly AbortSignal[]): Promise<wire.CloseResponse>;
  renew(request: wire.RenewRequest, signals: readonly AbortSignal[]): Promise<wire.RenewResponse>;
  end(): void;
}
