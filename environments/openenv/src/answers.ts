import { readRemoteJson, readShape, ServerFull } from "@mrlm/kit/bridge";
import { isObject, type JsonObject, MrlmError } from "@mrlm/kit";
import { type ErrorCode, isErrorCode } from "@mrlm/kit/service";
import { z } from "zod";

/** Object of a message, which was read from JSON. */
const json = z.custom<JsonObject>((value) => isObject(value), "expected an object");

/** Facts that a server of mrlm states beside those of the protocol. */
const ours = z.looseObject({
  session_id: z.string().optional(),
  code: z.string().optional(),
  retry_delay_ms: z.number().min(0).optional(),
  truncated: z.boolean().optional(),
  tools_changed: z.boolean().optional(),
  components: z.record(z.string(), z.number()).optional(),
  unscored: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});

const frame = z.looseObject({ type: z.string(), data: json });

const observed = z.looseObject({
  observation: json,
  reward: z.unknown().optional(),
  done: z.boolean(),
  metadata: z.looseObject({ mrlm: ours.optional() }).nullish(),
});

const fault = z.looseObject({ code: z.string(), message: z.string(), mrlm: ours.optional() });

const toolList = z.array(
  z.looseObject({
    name: z.string(),
    description: z.string().nullish(),
    input_schema: json.optional(),
    inputSchema: json.optional(),
  }),
);

/** Result of a reset or a step. */
export type Observed = z.output<typeof observed>;

/** Refusal of an action because of its form. */
export class ActionRefused extends Error {}

/** Refusal of a session that another WebSocket uses. Its server learns of a lost one later. */
export class StillAttached extends MrlmError {}

/** Delay before another try of a server that states none. */
const FULL_MS = 1_000;
/** Codes of a server of mrlm that mean the same here. */
const SAME: readonly ErrorCode[] = ["OPTIONS_INVALID", "ROLES_UNSUPPORTED", "SEED_REFUSED", "TASK_NOT_FOUND"];

/**
 * Reads the answer to a reset or a step. Throws {@link ServerFull}, {@link ActionRefused} and the MrlmError of the server's own error.
 * @throws BRIDGE_RESPONSE_INVALID, which names the field
 */
export function readObserved(text: string, request: "reset" | "step" | "list_tools"): Observed {
  const what = `The answer to ${request}`;
  const { type, data } = readShape(frame, readRemoteJson(text, what), what);
  if (type === "error") throw faultOf(readShape(fault, data, `The error of ${request}`), request);
  if (type !== "observation")
    throw new MrlmError("BRIDGE_RESPONSE_INVALID", `${what} has another form: \`type\` is ${JSON.stringify(type)}.`);
  return readShape(observed, data, what);
}

/** Checks the answer to a request for the state. Throws {@link StillAttached}, and the MrlmError of the server's own error. */
export function readState(text: string): void {
  const what = "The answer to state";
  const { type, data } = readShape(frame, readRemoteJson(text, what), what);
  if (type === "error") throw faultOf(readShape(fault, data, "The error of state"), "state");
}

/** Returns the tools of an observation of `list_tools`. */
export function toolsIn(observation: JsonObject) {
  const tools = readShape(toolList, observation["tools"], "The list of tools");
  return tools.map(({ name, description, input_schema: schema, inputSchema = schema ?? {} }) => ({
    name,
    description: description ?? "",
    parameters: { type: "object", ...inputSchema } as JsonObject,
  }));
}

function faultOf({ code, message, mrlm }: z.output<typeof fault>, request: string): Error {
  const text = `The server answers ${request} with ${code}: ${message}`;
  if (code === "CAPACITY_REACHED") return new ServerFull(text, mrlm?.retry_delay_ms ?? FULL_MS);
  if (code === "VALIDATION_ERROR" && request === "step") return new ActionRefused(message);
  const known = mrlm?.code;
  if (known === "SESSION_BUSY") return new StillAttached("BRIDGE_LOST", text);
  if (known === "SESSION_NOT_FOUND") return new MrlmError("BRIDGE_LOST", text);
  if (known !== undefined && isErrorCode(known) && SAME.includes(known)) return new MrlmError(known, text);
  const isRefusal = ["VALIDATION_ERROR", "UNKNOWN_TYPE", "INVALID_JSON"].includes(code);
  return new MrlmError(isRefusal ? "BRIDGE_REFUSED" : "BRIDGE_FAILED", text);
}
