import { isObject, type JsonObject, type JsonValue } from "@mrlm/spec";
import { z } from "zod";
import { ApiError, invalidParameter } from "./api-error.ts";

/** Largest number of tokens, and largest token, that the wire to the engine can hold. */
export const MAX_INT32 = 2 ** 31 - 1;

/** Text at which an answer ends. */
export const stopString = z.string().min(1).max(1_024);

/** Parameters of the sampler, in requests of all APIs. */
export const samplerParameters = {
  seed: z.int().optional(),
  temperature: z.number().min(0).optional(),
  top_p: z.number().gt(0).max(1).optional(),
  /** 0 and -1: all tokens. */
  top_k: z.int().min(-1).max(MAX_INT32).optional(),
  min_tokens: z.int().min(0).optional(),
  stop_token_ids: z.array(z.int().min(0).max(MAX_INT32)).max(64).optional(),
  ignore_eos: z.boolean().optional(),
};

/** Parsed {@link samplerParameters}. */
export type SamplerParameters = z.output<z.ZodObject<typeof samplerParameters>>;

/** Parameters of requests for chats and completions. */
export const samplingParameters = {
  ...samplerParameters,
  model: z.string(),
  n: z.int().min(1).max(128).optional(),
  max_tokens: z.int().min(0).optional(),
  stop: z.union([stopString, z.array(stopString).max(16)]).optional(),
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional() }).optional(),
  return_token_ids: z.boolean().optional(),
  user: z.string().optional(),
};

/** Place that answers a request: a server of policies, or an episode, whose turns the run samples. */
export type Place = "server" | "episode";

/** `honoured`; `recorded`: accepted without an effect; a list: the values that change no answer. All other values are refused. */
type Treatment = "honoured" | "recorded" | readonly JsonValue[];

/**
 * All parameters that are not refused, on a server and in an episode. A server accepts what an episode accepts: an agent that trains can be served. The schema of each API has those that
 * it honours.
 */
const PARAMETERS: Readonly<Record<string, Readonly<Record<Place, Treatment>>>> = {
  ...both("honoured", "model", "messages", "tools", "tool_choice", "response_format", "stop", "stream"),
  ...both("honoured", "stream_options", "max_tokens", "max_completion_tokens"),
  ...both("recorded", "user", "metadata", "parallel_tool_calls", "store", "service_tier", "prediction"),
  ...both("recorded", "prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "safety_identifier"),
  ...both("recorded", "verbosity"),
  ...onServer("honoured", "recorded", "temperature", "top_p", "top_k", "seed", "min_tokens", "ignore_eos", "logprobs"),
  ...onServer("honoured", "recorded", "return_token_ids"),
  ...onServer("honoured", [], "prompt", "echo", "stop_token_ids"),
  ...onServer("honoured", [1], "n"),
  // No sampler has them: an episode without them would train another policy than the program asks for.
  ...both([0], "frequency_penalty", "presence_penalty", "min_p", "top_logprobs"),
  ...both([1], "repetition_penalty"),
  ...both([{}], "logit_bias"),
  // Of OpenAI's Responses and Anthropic's Messages.
  ...both("honoured", "input", "instructions", "max_output_tokens", "text"),
  ...both("recorded", "include", "reasoning", "truncation", "client_metadata"),
  ...both([false], "background"),
  ...both("honoured", "system", "stop_sequences", "output_config"),
  ...both("recorded", "thinking", "context_management", "inference_geo"),
  ...both([1], "best_of"),
  ...both([["text"]], "modalities"),
  ...both([true], "skip_special_tokens"),
  ...both([""], "suffix"),
};

/** Returns the parameters of a body that an episode records. */
export function recordedParameters(body: JsonObject): JsonObject {
  const isRecorded = ([name, value]: [string, unknown]): boolean =>
    value !== null && treatmentOf(name, "episode") === "recorded";
  return Object.fromEntries(Object.entries(body).filter(isRecorded));
}

/** Lists and objects of a body: each takes much more memory than its text, and an episode keeps its calls. */
const MAX_OBJECTS = 20_000;

/** Throws ApiError with status 413 for a body of too many lists and objects. */
function assertFewObjects(body: object): void {
  const found: object[] = [body];
  for (const each of found) {
    for (const value of Object.values(each)) if (typeof value === "object" && value !== null) found.push(value);
    if (found.length > MAX_OBJECTS)
      throw new ApiError(
        413,
        "request_too_large",
        `The request has more than ${MAX_OBJECTS} lists and objects. Send a shorter history.`,
      );
  }
}

/**
 * Parses the body of a request. Omits parameters that are null, as in OpenAI's API, and those without an effect. Throws {@link ApiError} with status 400, which names the
 * parameter.
 */
export function parseBody<T extends z.ZodRawShape>(
  schema: z.ZodObject<T, z.core.$strict>,
  body: unknown,
  place: Place = "server",
): z.output<z.ZodObject<T, z.core.$strict>> {
  if (!isObject(body)) throw new ApiError(400, "invalid_value", "The body of the request is not a JSON object.");
  assertFewObjects(body);
  if (isObject(body["stream_options"]) && body["stream"] !== true)
    throw invalidParameter("stream_options", "'stream_options' needs 'stream': true.");
  const isGiven = (name: string, value: unknown): boolean =>
    value !== null && hasEffect(name, value, place) && (isRead(name) || treatmentOf(name, place) !== "recorded");
  const isRead = (name: string): boolean => Object.hasOwn(schema.shape, name);
  const given = Object.entries(body).filter(([name, value]) => isGiven(name, value));
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === "unrecognized_keys") throw unsupported([...issue.path, issue.keys[0] ?? ""].join("."), "", place);
  const param = issue?.path.join(".") ?? "";
  if (issue?.code === "invalid_type" && !given.some(([name]) => name === issue.path[0]))
    throw new ApiError(400, "missing_required_parameter", `Missing required parameter: '${param}'.`, { param });
  throw invalidValue(param, issue);
}

/** Parses a part of a body. Throws {@link ApiError} with status 400, which names its place. */
export function parsePart<S extends z.ZodType>(schema: S, value: unknown, place: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidValue([place, ...(issue?.path ?? [])].join("."), issue);
}

function invalidValue(param: string, issue: z.core.$ZodIssue | undefined): ApiError {
  return invalidParameter(param, `Invalid value for '${param}': ${issue?.message}.`);
}

/** Returns the error of a parameter, or of a value of it, that is refused. */
export function unsupported(param: string, reason = "", place: Place = "server"): ApiError {
  const known = treatmentOf(param, place);
  const allowed =
    typeof known !== "object" || known.length === 0
      ? ""
      : ` with a value other than ${known.map((each) => JSON.stringify(each)).join(" or ")}`;
  return new ApiError(400, "unsupported_parameter", `Unsupported parameter: '${param}'${allowed}.${reason}`, { param });
}

function hasEffect(name: string, value: unknown, place: Place): boolean {
  const treatment = treatmentOf(name, place);
  // A parameter of the schema that a place refuses is refused here: the schemas of both places have it.
  if (typeof treatment !== "object") return true;
  const text = JSON.stringify(value);
  if (treatment.some((neutral) => JSON.stringify(neutral) === text)) return false;
  throw unsupported(name, "", place);
}

function treatmentOf(name: string, place: Place): Treatment | undefined {
  return Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name]?.[place] : undefined;
}

function both(treatment: Treatment, ...names: readonly string[]): typeof PARAMETERS {
  return onServer(treatment, treatment, ...names);
}

function onServer(server: Treatment, episode: Treatment, ...names: readonly string[]): typeof PARAMETERS {
  return Object.fromEntries(names.map((name) => [name, { server, episode }]));
}
