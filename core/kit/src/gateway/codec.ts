import type { JsonObject, Message, ToolDefinition } from "@mrlm/spec";
import type { ApiError } from "./api-error.ts";

/** Call of a model, without the form of its API. */
export interface ModelCall {
  /** Whole history; the last message is not of the assistant. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** Name of the model. */
  readonly model: string;
  readonly stream: boolean;
  readonly maxTokens?: number;
  /** Texts at which the answer ends for the program. */
  readonly stops: readonly string[];
  /** Tool that the policy must call; `""` for any. */
  readonly requiredTool?: string;
  /** Form of the answer: a JSON object, with a name and a schema where the request has them. */
  readonly format?: { readonly name?: string; readonly schema?: JsonObject };
  /** Parameters without an effect. */
  readonly parameters: JsonObject;
}

/** Answer as the program receives it. */
export interface ModelAnswer {
  readonly message: Message;
  readonly finishReason: "stop" | "length";
  /** Stop text of the call that ended the answer. */
  readonly stop?: string;
}

/** Form of one API of models. */
export interface Codec {
  /** Name of the API in the record of a call. */
  readonly wire: string;
  /** Path after the base URL. */
  readonly path: string;
  /** Reads the body of a request. Throws ApiError with status 400. */
  read(body: unknown): ModelCall;
  /** Returns the body of the response in parts: one, or an event each. @param id of the response */
  write(call: ModelCall, answer: ModelAnswer, id: string): string[];
  /** Returns an event of a stream. */
  event(data: object): string;
  /** Returns the body of an error. */
  error(error: ApiError): object;
}
