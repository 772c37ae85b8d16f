import { parseClientJson } from "@mrlm/kit/http";
import { logFault } from "@mrlm/server/sessions";
import { type JsonObject, MrlmError } from "@mrlm/spec";
import type { DialectContext } from "../dialect.ts";
import { errorData, errorDataOf } from "./errors.ts";
import type { OpenEnvSession } from "./openenv-session.ts";
import { FRAME_TYPES, frame, MalformedRequest, parse, parseAction, resetData } from "./requests.ts";
import type { Rpc } from "./rpc.ts";

/** Returns the answer to a message over `/ws`, and `undefined` to the last one. */
export async function answerFrame(
  text: string | undefined,
  session: OpenEnvSession,
  { context, rpc }: { readonly context: DialectContext; readonly rpc: Rpc },
): Promise<string | undefined> {
  let value: unknown;
  try {
    if (text === undefined) throw new SyntaxError("it is binary");
    value = parseClientJson(text);
  } catch (error) {
    return message("error", errorData("INVALID_JSON", `Invalid JSON: ${(error as Error).message}`));
  }
  let type: unknown;
  try {
    const known: unknown = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
    type = known;
    if (typeof known === "string" && !FRAME_TYPES.some((each) => each === known))
      return message("error", errorData("UNKNOWN_TYPE", `Unknown message type: ${known.slice(0, 100)}`));
    const { type: name, data } = parse(frame, value, []);
    switch (name) {
      case "reset":
        return message("observation", { ...(await session.reset(parse(resetData, data ?? {}, ["data"]))) });
      case "step":
        return message("observation", { ...(await session.step(parseAction(data ?? {}, ["data"]))) });
      case "state":
        session.touch();
        return message("state", session.state);
      case "mcp": {
        const caller = { client: session.client, environment: session.environment, session };
        return message("mcp", await rpc.answer(data ?? {}, caller));
      }
      case "close":
        return undefined;
    }
  } catch (error) {
    if (!(error instanceof MalformedRequest) && !MrlmError.hasCode(error, "EPISODE_ENDED", "CANCELLED"))
      logFault(context.logger, error);
    return message("error", errorDataOf(error, context.sessions, type === "reset" ? session.environment : undefined));
  }
}

/** Returns a message of the server. */
export function message(type: "observation" | "state" | "mcp" | "error", data: JsonObject): string {
  return JSON.stringify({ type, data });
}
