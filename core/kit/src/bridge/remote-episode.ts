import type { Action, ImagePart, JsonObject, Message, TextPart, ToolCallPart, ToolDefinition } from "@mrlm/spec";

/** Result of an action on a server. */
export interface RemoteStep {
  /** Answer to a text: the next observation. */
  readonly messages?: readonly Message[];
  /** Answer to a call of a tool. */
  readonly content?: readonly (TextPart | ImagePart)[];
  readonly isError?: boolean;
  /** Reward as the server sent it; `null` or `undefined` for none. */
  readonly reward: unknown;
  /** Set where the server states that a reward could not be computed. */
  readonly unscored?: { readonly code: string; readonly message: string };
  readonly done: boolean;
  /** Whether the server states that a limit ended the episode. */
  readonly truncated?: boolean;
  /** Tools of the next action, where they have changed. */
  readonly tools?: readonly ToolDefinition[];
  readonly info?: JsonObject;
}

/** Action that the server did not take because of its form: a mistake of the policy, whose text it reads. */
export class ActionMistake extends Error {}

/** Refusal of a server without a free session. */
export class ServerFull extends Error {
  readonly delayMs: number;

  constructor(message: string, delayMs: number) {
    super(message);
    this.delayMs = delayMs;
  }
}

/** Episode on a server. Its calls reject with a MrlmError of a fault of the server, and with {@link ActionMistake}. */
export interface RemoteEpisode {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** Whether the episode has ended with its first observation. */
  readonly isOver?: boolean;
  /** Acts with a text. `undefined`: the server takes calls of tools only. */
  sendText?(text: string, finish: Action["finishReason"], signal: AbortSignal): Promise<RemoteStep>;
  call(call: ToolCallPart, signal: AbortSignal): Promise<RemoteStep>;
  /** Ends the session on the server. Never rejects; may be called several times. */
  close(): Promise<void>;
}
