import { MrlmError } from "@mrlm/spec";
import { type EpisodeFilter, type EpisodePage, LIST_COLUMNS, type Range } from "@mrlm/store";

const MAX_ROWS = 500;
const OUTCOMES = ["failed", "unscored", "scored"] as const;
const TYPES = new Map(LIST_COLUMNS.map(({ name, type }) => [name, type]));

/**
 * Reads the arguments of an address: `role=browser&reward=0.5..&step=10..20&component.correct=0..0&outcome=failed&signal=none&sort=-reward&offset=100&limit=50`.
 * Throws QUERY_INVALID for any other form.
 */
export function episodePage(search: URLSearchParams, maxRows = MAX_ROWS): EpisodePage {
  const equal: Record<string, string | number> = {};
  const within: Record<string, Range> = {};
  const components: Record<string, Range> = {};
  const filter: EpisodeFilter = { equal, within, components };
  let [sort, offset, limit] = ["-run_step", 0, Math.min(100, maxRows)];
  let more: Pick<EpisodeFilter, "outcome" | "withoutSignal"> = {};
  for (const [name, value] of search) {
    if (name === "sort") sort = value;
    else if (name === "offset") offset = count(name, value, Number.MAX_SAFE_INTEGER);
    else if (name === "limit") limit = count(name, value, maxRows);
    else if (name === "outcome") more = { ...more, outcome: oneOf(name, value, OUTCOMES) };
    else if (name === "signal") more = { ...more, withoutSignal: oneOf(name, value, ["none"]) === "none" };
    else if (name.startsWith("component.")) components[name.slice("component.".length)] = range(name, value);
    else if (!TYPES.has(name)) throw invalid(`There is no argument "${name}"`);
    else if (TYPES.get(name) === "text") equal[name] = value;
    else within[name] = range(name, value);
  }
  return { filter: { ...filter, ...more }, sort, offset, limit };
}

/** Reads `0.5..1`, `0.5..`, `..1` or `1`. */
function range(name: string, value: string): Range {
  const [from = "", to = from] = value.includes("..") ? value.split("..") : [value];
  const bounds = [from, to].map((text) => (text === "" ? null : Number(text))) as [number | null, number | null];
  if (value === "" || bounds.some((bound) => bound !== null && !Number.isFinite(bound)))
    throw invalid(`The argument ${name}=${value} is no number and no range like 0.5..1`);
  return bounds;
}

function count(name: string, value: string, most: number): number {
  const number = Number(value);
  if (!/^\d{1,15}$/.test(value) || number > most)
    throw invalid(`The argument ${name}=${value} is no whole number from 0 to ${most}`);
  return number;
}

function oneOf<T extends string>(name: string, value: string, values: readonly T[]): T {
  const found = values.find((each) => each === value);
  if (found === undefined) throw invalid(`The argument ${name}=${value} is none of ${values.join(", ")}`);
  return found;
}

function invalid(fact: string): MrlmError {
  return new MrlmError("QUERY_INVALID", `${fact}.`, { hint: "docs/train/viewer.md lists the arguments." });
}
