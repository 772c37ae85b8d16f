import { isObject } from "@mrlm/spec";
import { z } from "zod";
import { ApiError, invalidParameter } from "./api-error.ts";

/** Largest number of tokens, and largest token, that the wire to the engine can hold. */
export const MAX_INT32 = 2 ** 31 - 1;

/** Parameters of all requests for tokens. */
export const samplingParameters = {
  model: z.string(),
  n: z.int().min(1).max(128).optional(),
  seed: z.int().optional(),
  temperature: z.number().min(0).optional(),
  top_p: z.number().gt(0).max(1).optional(),
  /** 0 and -1: all tokens. */
  top_k: z.int().min(-1).max(MAX_INT32).optional(),
  max_tokens: z.int().min(0).optional(),
  min_tokens: z.int().min(0).optional(),
  stop: z.union([stopString(), z.array(stopString()).max(16)]).optional(),
  stop_token_ids: z.array(z.int().min(0).max(MAX_INT32)).max(64).optional(),
  ignore_eos: z.boolean().optional(),
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional() }).optional(),
  return_token_ids: z.boolean().optional(),
  user: z.string().optional(),
};

/** Parsed {@link samplingParameters}. */
export type SamplingParameters = z.output<z.ZodObject<typeof samplingParameters>>;

/** Parameters of OpenAI's API that this server does not implement, with the values that do not change an answer. */
const NEUTRAL: ReadonlyMap<string, readonly unknown[]> = new Map(
  Object.entries({
    best_of: [1],
    frequency_penalty: [0],
    logit_bias: [{}],
    metadata: [{}],
    min_p: [0],
    modalities: [["text"]],
    parallel_tool_calls: [true],
    presence_penalty: [0],
    repetition_penalty: [1],
    response_format: [{ type: "text" }],
    service_tier: ["auto", "default"],
    skip_special_tokens: [true],
    store: [false],
    suffix: [""],
    top_logprobs: [0],
  }),
);

/**
 * Parses the body of a request. Omits parameters that are null, as in OpenAI's API. Throws {@link ApiError} with status 400, which names the parameter.
 */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  if (!isObject(body)) throw new ApiError(400, "invalid_value", "The body of the request is not a JSON object.");
  const given = Object.entries(body).filter(([name, value]) => value !== null && !isNeutral(name, value));
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === "unrecognized_keys") throw unsupported([...issue.path, issue.keys[0] ?? ""].join("."));
  const param = issue?.path.join(".") ?? "";
  if (issue?.code === "invalid_type" && !given.some(([name]) => name === issue.path[0]))
    throw new ApiError(400, "missing_required_parameter", `Missing required parameter: '${param}'.`, { param });
  throw invalidParameter(param, `Invalid value for '${param}': ${issue?.message}.`);
}

/** Returns the error of a parameter, or of a value of it, that this server does not implement. */
export function unsupported(param: string, reason = ""): ApiError {
  const known = NEUTRAL.get(param);
  const allowed =
    known === undefined ? "" : ` with a value other than ${known.map((each) => JSON.stringify(each)).join(" or ")}`;
  return new ApiError(400, "unsupported_parameter", `Unsupported parameter: '${param}'${allowed}.${reason}`, { param });
}

function isNeutral(name: string, value: unknown): boolean {
  const text = JSON.stringify(value);
  return NEUTRAL.get(name)?.some((neutral) => JSON.stringify(neutral) === text) ?? false;
}

function stopString() {
  return z.string().min(1).max(1_024);
}
