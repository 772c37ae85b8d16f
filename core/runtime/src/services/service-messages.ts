import type { ServiceKind } from "../plugins/plugin-kinds.ts";

/** Object of the process that has the services: a service, or what a call of one has opened. */
export interface RemoteObject {
  readonly id: number;
  readonly kind: ServiceKind | "session" | "opened" | "function" | "files" | "shell";
  /** Plugin that made a service. */
  readonly plugin?: string;
  /** Its values; those of a session and of opened tools change. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Optional methods that it has. */
  readonly methods: readonly string[];
}

/** Parts of the options of a call that are no data: whether each was given. */
export interface CallParts {
  readonly signal: boolean;
  readonly queued: boolean;
  readonly progressed: boolean;
  /** `onOutput` of a command. */
  readonly output: boolean;
}

/** Call of a method of an object. */
export interface ObjectCall {
  readonly object: number;
  readonly method: string;
  readonly given: readonly unknown[];
  /** Last argument, without the parts. */
  readonly options: object | undefined;
  readonly parts: CallParts;
}

/** Methods of the process that has the services. */
export interface ServiceCalls {
  service(kind: ServiceKind, id: string, asker: string): RemoteObject;
  /** Returns data, or what it opened. */
  call(call: ObjectCall): { readonly value: unknown } | { readonly opened: RemoteObject };
}

/** Event of a call: it begins, or ends, a wait for a place; or it has progressed; or it has printed. */
export type CallEvent =
  | { readonly wait: number; readonly isOver: boolean }
  | { readonly output: Uint8Array; readonly stream: "stdout" | "stderr" }
  | "progressed";

/** Notice: the values of an object have changed. */
export interface ObjectState {
  readonly object: number;
  readonly values: RemoteObject["values"];
}
