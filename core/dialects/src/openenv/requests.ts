import { z } from "zod";

/** Fault of a request, in the form of OpenEnv's server. */
export interface Fault {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: null;
}

/** Request whose form is wrong. */
export class MalformedRequest extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; "));
    this.faults = faults;
  }
}

/** Faults of a request that an error names. */
const MAX_FAULTS = 5;
const MAX_MESSAGE = 200;

/** Returns a value in the form of a schema. Throws {@link MalformedRequest}. @param at position of the value in the request */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  at: readonly string[],
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new MalformedRequest(
    parsed.error.issues.slice(0, MAX_FAULTS).map(({ code, path, message }) => ({
      type: code,
      loc: [...at, ...path.map((part) => (typeof part === "symbol" ? String(part) : part))],
      msg: message.slice(0, MAX_MESSAGE),
      input: null,
    })),
  );
}

const details = z.looseObject({ finish_reason: z.enum(["stop", "length"]).optional() }).nullish();

/** Choice of an episode. Fields that other servers know are accepted, and named in the answer. */
export const resetData = z.looseObject({
  seed: z.int().min(0).nullish(),
  episode_id: z.string().max(255).nullish(),
  task: z.string().nullish(),
  split: z.string().nullish(),
  index: z.int().nullish(),
  options: z.record(z.string(), z.json()).nullish(),
});
export type ResetData = z.output<typeof resetData>;

const listTools = z.strictObject({ type: z.literal("list_tools"), metadata: details });
const callTool = z.strictObject({
  type: z.literal("call_tool"),
  tool_name: z.string().min(1).max(256),
  arguments: z.record(z.string(), z.json()).default({}),
  metadata: details,
});
const message = z
  .strictObject({ type: z.literal("message").optional(), message: z.string(), metadata: details })
  .transform((action) => ({ ...action, type: "message" as const }));

/** Action of a step. */
export type ActionData = z.output<typeof listTools | typeof callTool | typeof message>;

/** Returns the action of a step: a text, a call of a tool, or the request for the tools. Throws {@link MalformedRequest}. */
export function parseAction(data: unknown, at: readonly string[]): ActionData {
  const type: unknown = typeof data === "object" && data !== null && "type" in data ? data.type : undefined;
  return parse(type === "list_tools" ? listTools : type === "call_tool" ? callTool : message, data, at);
}

/** Body of `POST /step`. */
export const stepRequest = z.strictObject({
  action: z.record(z.string(), z.json()),
  timeout_s: z.number().positive().nullish(),
  request_id: z.string().max(255).nullish(),
});

/** Types of messages over `/ws`. */
export const FRAME_TYPES = ["reset", "step", "state", "close", "mcp"] as const;

/** Message over `/ws`. Its data have a form for each type. */
export const frame = z.strictObject({
  type: z.enum(FRAME_TYPES),
  data: z.record(z.string(), z.unknown()).optional(),
});

/** Request of JSON-RPC 2.0. */
export const rpcRequest = z.strictObject({
  jsonrpc: z.literal("2.0"),
  method: z.string(),
  params: z.record(z.string(), z.json()).default({}),
  id: z.union([z.string(), z.number()]).nullish(),
});
export type RpcRequest = z.output<typeof rpcRequest>;

const sessionId = z.string().min(1).max(255);
export const closeParams = z.looseObject({ session_id: sessionId });
export const listParams = z.looseObject({ session_id: sessionId.nullish() });
export const callParams = z.looseObject({
  session_id: sessionId.nullish(),
  name: z.string().min(1).max(256),
  arguments: z.record(z.string(), z.json()).default({}),
});
