import { AsyncLocalStorage } from "node:async_hooks";

/** Call of a client in a session. It names no content of the episode. */
export interface CallContext {
  /** First 16 hexadecimal digits of the SHA-256 of the session's id, which is a secret of its client. */
  readonly session: string;
  /** Id of the environment. */
  readonly environment: string;
  /** Name of the client. */
  readonly client: string;
  /** Id of the trace, 32 hexadecimal digits. */
  readonly trace?: string;
}

const storage = new AsyncLocalStorage<CallContext>();

/** Returns the call on whose behalf the present code runs, also of an environment; `undefined` outside of calls. */
export function currentCall(): CallContext | undefined {
  return storage.getStore();
}

/** Runs work on behalf of a call. */
export function inCall<T>(call: CallContext, work: () => T): T {
  return storage.run(call, work);
}
