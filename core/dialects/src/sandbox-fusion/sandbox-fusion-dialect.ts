import { MrlmError } from "@mrlm/spec";
import { logFault } from "@mrlm/server/sessions";
import type { Call, Dialect, DialectContext, Route } from "../dialect.ts";
import { readBody } from "../read-body.ts";
import { isPassing, runCode } from "./run-code.ts";
import { runCodeRequest } from "./run-code-request.ts";
import { sandboxError } from "./run-code-response.ts";

/** Route `/run_code` of SandboxFusion, over the sandboxes of this server. */
export class SandboxFusionDialect implements Dialect {
  readonly paths: readonly string[] = ["/run_code"];
  readonly routes: readonly Route[] = [
    { method: "POST", path: "/run_code", summary: "Run a program in a sandbox", handle: (call) => this.#run(call) },
  ];
  readonly #context: DialectContext;
  /** Aborted when the server stops. */
  readonly #stopped = new AbortController();

  constructor(context: DialectContext) {
    this.#context = context;
  }

  errorBody(error: MrlmError): unknown {
    return sandboxError(textOf(error));
  }

  async close(): Promise<void> {
    this.#stopped.abort(new MrlmError("SERVER_UNAVAILABLE", "The server stops."));
  }

  /** Clients repeat a request after 504, the status of a fault that may pass. A client that disconnects ends its program. */
  async #run({ exchange, body }: Call): Promise<void> {
    const request = readBody(runCodeRequest, body);
    const gone = new AbortController();
    const onClose = (): void => gone.abort(new MrlmError("CANCELLED", "The client disconnected."));
    exchange.response.once("close", onClose);
    try {
      const signal = AbortSignal.any([gone.signal, this.#stopped.signal]);
      const client = exchange.client ?? exchange.request.socket.remoteAddress ?? "";
      exchange.send(200, await runCode(this.#context.sandboxes, request, { client, signal }));
    } catch (error) {
      if (gone.signal.aborted) return;
      logFault(this.#context.logger, error);
      if (!isPassing(error)) throw error;
      exchange.send(504, sandboxError(textOf(error)), { "retry-after": "1" });
    } finally {
      exchange.response.off("close", onClose);
    }
  }
}

function textOf({ code, message }: MrlmError): string {
  return `${message} (${code})`;
}
