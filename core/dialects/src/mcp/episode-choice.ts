import { type Exchange, parseClientJson } from "@mrlm/kit/http";
import { defined, isObject, type JsonObject, MrlmError } from "@mrlm/spec";
import type { EpisodeRequest } from "../episode.ts";

/** Arguments of the URL by which a client chooses its episode. Each is also a header: `task` is `mrlm-task`. */
const NAMES = ["task", "seed", "options", "lease_ms"] as const;

/** Reads the task, the seed, the options and the lease of an episode from the URL and the headers of the first request. Throws MESSAGE_INVALID. */
export function episodeChoice(
  exchange: Exchange,
): Omit<EpisodeRequest, "environment"> & { readonly options?: JsonObject } {
  const unknown = [...exchange.url.searchParams.keys()].find((name) => !NAMES.some((known) => known === name));
  if (unknown !== undefined)
    throw invalid(`the URL has the argument ${JSON.stringify(unknown.slice(0, 100))}; it may have ${NAMES.join(", ")}`);
  const [task, seed, options, leaseMs] = NAMES.map((name) => valueOf(exchange, name));
  return {
    ...defined({ task }),
    ...(seed !== undefined && { seed: integer("seed", seed) }),
    ...(options !== undefined && { options: jsonObject("options", options) }),
    ...(leaseMs !== undefined && { leaseMs: positive("lease_ms", leaseMs) }),
  };
}

/** Returns the value of an argument or of its header. */
function valueOf({ url, request }: Exchange, name: string): string | undefined {
  const header = `mrlm-${name.replace("_", "-")}`;
  const values = new Set([...url.searchParams.getAll(name), ...(request.headersDistinct[header] ?? [])]);
  if (values.size > 1)
    throw invalid(`${name} has several values: ${[...values].map((each) => JSON.stringify(each)).join(", ")}`);
  const [value] = values;
  return value;
}

function integer(name: string, text: string): number {
  const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value))
    throw invalid(`${name} is ${JSON.stringify(text)}, not a whole number within ±2^53`);
  return value;
}

function positive(name: string, text: string): number {
  const value = integer(name, text);
  if (value <= 0) throw invalid(`${name} is ${text}, not a positive number`);
  return value;
}

function jsonObject(name: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = parseClientJson(text);
  } catch (error) {
    throw invalid(`${name} is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw invalid(`${name} is not a JSON object`);
  return value as JsonObject;
}

function invalid(reason: string): MrlmError {
  return new MrlmError("MESSAGE_INVALID", `The choice of an episode is malformed: ${reason}.`, {
    hint: "Correct the URL or the headers mrlm-* of the connection.",
  });
}
