import type { JsonObject, Message, ToolCallPart, ToolDefinition } from "@mrlm/spec";
import type { ApiError } from "./api-error.ts";
import type { Place, SamplerParameters } from "./parameters.ts";

/** Call of a model, without the form of its API. */
export interface ModelCall {
  /** Whole history. */
  readonly messages: readonly Message[];
  /** Tools that the policy may call. */
  readonly tools: readonly ToolDefinition[];
  /** Namespaces of tools by the names that the policy calls: NAMESPACE__NAME. Of OpenAI's Responses alone. */
  readonly namespaces?: ReadonlyMap<string, string>;
  /** Names of the tools that take a text, which is their argument `input` here. Of OpenAI's Responses alone: its custom tools. */
  readonly textTools?: ReadonlySet<string>;
  /** Name of the model. */
  readonly model: string;
  readonly stream: boolean;
  /** Whether a stream ends with the usage of tokens. Of OpenAI's chat API alone. */
  readonly includeUsage?: boolean;
  readonly maxTokens?: number;
  /** Texts at which the answer ends for the program. */
  readonly stops: readonly string[];
  /** Tool that the policy must call; `""` for any. */
  readonly requiredTool?: string;
  /** Form of the answer: a JSON object, with a name and a schema where the request has them. */
  readonly format?: { readonly name?: string; readonly schema?: JsonObject };
  /** Parameters that a server honours, and an episode records: its run has its own. */
  readonly sampling: SamplerParameters;
  /** Parameters without an effect in an episode. */
  readonly parameters: JsonObject;
}

/** New part of an answer. */
export type Delta =
  | { readonly type: "content"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "call"; readonly call: ToolCallPart };

/** End of an answer. */
export interface AnswerEnd {
  readonly finishReason: "stop" | "length";
  /** Stop text of the call that ended the answer. */
  readonly stop?: string;
  /** Default: 0. An episode does not know the tokens of its policy. */
  readonly outputTokens?: number;
}

/** Answer as the program receives it. */
export interface ModelAnswer extends AnswerEnd {
  readonly message: Message;
}

/** Fields of a response that are known before its answer. */
export interface ResponseStart {
  /** Id without the prefix of the API. */
  readonly id: string;
  /** Seconds since 1970; 0 in an episode, whose responses are repeatable. */
  readonly created: number;
  /** Tokens of the prompt; 0 in an episode. */
  readonly inputTokens: number;
}

/** Writes the response to a call while its answer is sampled. */
export interface AnswerWriter {
  /** Adds parts of the answer. Returns the events of a stream; at first also those that begin it. */
  add(deltas: readonly Delta[]): object[];
  /** Ends the answer. Returns the last events, the body of a response that is not streamed, and whether the answer has the form that the call requires. */
  end(end: AnswerEnd): { readonly events: object[]; readonly whole: object; readonly hasFormat: boolean };
}

/** Form of one API of models. */
export interface Codec {
  /** Name of the API in the record of a call. */
  readonly wire: string;
  /** Path after the base URL. */
  readonly path: string;
  /** Member of a request with its messages. */
  readonly list: "messages" | "input";
  /** Reads the body of a request. The last message is not of the assistant. Throws ApiError with status 400. @param place default: an episode */
  read(body: unknown, place?: Place): ModelCall;
  /** Begins a response. */
  begin(call: ModelCall, start: ResponseStart): AnswerWriter;
  /** Returns an event of a stream. */
  event(data: object): string;
  /** Text after the events of a stream. */
  readonly streamEnd: string;
  /** Returns the body of an error. */
  error(error: ApiError): object;
}
