import { defined, type ErrorCode, MrlmError } from "@mrlm/spec";

/** Codes after which a caller waits. They come before all others. */
const TEMPORARY: readonly ErrorCode[] = ["RESOURCE_EXHAUSTED", "SERVER_UNAVAILABLE"];

/** Servers that refused a call, with their errors. */
export class Refusals<Server> {
  readonly #errors = new Map<Server, { readonly address: string; readonly error: MrlmError }>();

  get size(): number {
    return this.#errors.size;
  }

  /** Whether each of them lacks the environment, so that a server that cannot be reached may be the one that has it. */
  get areOfUnknown(): boolean {
    return Array.from(this.#errors.values()).every(({ error }) => error.code === "ENVIRONMENT_NOT_FOUND");
  }

  has(server: Server): boolean {
    return this.#errors.has(server);
  }

  add(server: Server, address: string, error: MrlmError): void {
    this.#errors.set(server, { address, error });
  }

  /** Returns the error of a call that every server refused. It states the shortest delay until another attempt. */
  error(): MrlmError {
    const all = Array.from(this.#errors.values()).toSorted(
      (a, b) =>
        rank(a.error) - rank(b.error) || (a.error.retryDelayMs ?? Infinity) - (b.error.retryDelayMs ?? Infinity),
    );
    const [first] = all as [(typeof all)[0]];
    if (all.length === 1) return first.error;
    const { code, hint, isRetryable, retryDelayMs } = first.error;
    const reasons = all.map(({ address, error }) => `${address}: ${error.message}`).join(" ");
    return new MrlmError(code, `All of ${all.length} environment servers refused a call. ${reasons}`, {
      hint,
      isRetryable,
      ...defined({ retryDelayMs }),
      cause: first.error,
    });
  }
}

function rank({ code }: MrlmError): number {
  if (TEMPORARY.includes(code)) return TEMPORARY.indexOf(code);
  return code === "ENVIRONMENT_NOT_FOUND" ? 3 : 2;
}

/** Returns an error of a server with the server's address in its message. */
export function named(address: string, error: unknown): unknown {
  if (!MrlmError.isInstance(error) || error.message.includes(address)) return error;
  const { code, hint, isRetryable } = error;
  return new MrlmError(code, `The environment server at ${address} answers: ${error.message}`, {
    hint,
    isRetryable,
    cause: error,
  });
}
