import { type JsonObject, type JsonValue, MrlmError } from "@mrlm/spec";
import { Chance } from "./chance.ts";
import type { Drawn } from "./draw.ts";
import type { Place } from "./place.ts";

type Path = readonly (string | number)[];

/** A configuration that is wrong in one place. */
interface Mutant {
  readonly what: string;
  readonly config: JsonValue;
  /** Words that the error must contain in addition to code, line and column. */
  readonly words: readonly string[];
}

const REQUIRED = ["model", "stages", "algorithm", "steps", "rank", "alpha", "id"];
/** Real numbers that may be below 0, or whole. */
const SIGNED = ["min_reward"];
const WHOLE = [
  "steps",
  "seed",
  "max_tokens",
  "min_tokens",
  "prompts_per_step",
  "group_size",
  "updates_per_step",
  "minibatches",
  "batch_size",
  "warmup_steps",
  "rank",
  "tasks",
  "every",
  "keep",
  "samples",
  "concurrency",
  "prompts",
  "pairs_per_group",
  "collect_every",
  "max_turns",
  "overlong_buffer",
];
const CHOICES = [
  "dtype",
  "policy_loss",
  "baseline",
  "scale",
  "aggregation",
  "old_policy",
  "mismatch",
  "kl_estimator",
  "on_length",
  "lr_schedule",
  "loss",
  "reference",
  "critic",
  "kl_placement",
  "on_overlong",
];

/** Breaks a valid configuration in some places, one after the other, and complains where that is accepted, or refused without a code and a place. */
export async function mutationComplaints({ name, config }: Drawn, place: Place, count: number): Promise<string[]> {
  const chance = new Chance(`${name}/mutants`);
  const complaints: string[] = [];
  const places = pathsOf(config).filter((path) => !path.includes("config") && path.at(-1) !== "options");
  for (let i = 0; i < count; i++) {
    const mutant = mutate(config, chance.pick(places), chance);
    const text = JSON.stringify(mutant.config, undefined, 2);
    const outcome = await place.prepare(text).then(
      () => "was accepted",
      (error: unknown) => refusalFault(error, mutant),
    );
    if (outcome !== undefined) complaints.push(`${mutant.what} ${outcome}`);
  }
  return complaints;
}

function refusalFault(error: unknown, { words }: Mutant): string | undefined {
  if (!MrlmError.isInstance(error) || error.code === "INTERNAL") return `failed: ${(error as Error).stack}`;
  const message = `${error.message} ${error.hint}`;
  if (!/fuzz\.yaml:\d+:\d+: /.test(message)) return `was refused without a place: ${error.code} ${message}`;
  const lacking = words.filter((each) => !message.includes(each));
  return lacking.length > 0 ? `was refused without ${JSON.stringify(lacking)}: ${error.code} ${message}` : undefined;
}

function mutate(config: JsonObject, path: Path, chance: Chance): Mutant {
  const key = path.at(-1) as string;
  const value = path.reduce<JsonValue | undefined>(
    (at, step) => (at as Record<string | number, JsonValue>)[step],
    config,
  ) as JsonValue;
  const at = path.join(".");
  const isOurs = !path.includes("options");
  const set = (other: JsonValue): Mutant => ({
    what: `${at}: ${JSON.stringify(other)} for ${JSON.stringify(value)}`,
    config: changed(config, path, other) as JsonValue,
    words: [String(key)],
  });
  const ways: (() => Mutant)[] = [];
  if (typeof value === "number")
    ways.push(
      () => set("many"),
      () => set([value]),
      () => set({ a: value }),
    );
  if (typeof value === "number" && isOurs && !SIGNED.includes(key)) ways.push(() => set(-1));
  if (typeof value === "number" && WHOLE.includes(key)) ways.push(() => set(1.5));
  if (typeof value === "boolean")
    ways.push(
      () => set("perhaps"),
      () => set(2),
    );
  if (typeof value === "string")
    ways.push(
      () => set(7),
      () => set({}),
      () => set(true),
    );
  if (typeof value === "string" && CHOICES.includes(key))
    ways.push(() => ({ ...set(`${value}x`), words: ["must be one of"] }));
  if (Array.isArray(value) && key !== "trackers" && key !== "data")
    ways.push(
      () => set("one"),
      () => set(3),
    );
  if (typeof value === "object" && !Array.isArray(value))
    ways.push(() => set([1]), ...(key === "output" ? [] : [() => set("some")]));
  if (key !== "tracker" && key !== "description") ways.push(() => set(null));
  if (key.length > 4)
    ways.push(() => ({
      what: `${at} misspelt`,
      config: changed(
        config,
        path,
        value,
        `${key.slice(0, -2)}${key.at(-1)}${key.at(-2) === key.at(-1) ? "q" : key.at(-2)}`,
      ) as JsonValue,
      words: REQUIRED.includes(key) ? [] : ["id you mean", key],
    }));
  if (REQUIRED.includes(key))
    ways.push(() => ({ what: `without ${at}`, config: changed(config, path, undefined) as JsonValue, words: [key] }));
  return chance.pick(ways)();
}

/** Returns the paths of everything that has a name. */
function pathsOf(value: JsonValue, path: Path = []): Path[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => pathsOf(item, [...path, i]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    [...path, key],
    ...pathsOf(member as JsonValue, [...path, key]),
  ]);
}

/** Returns a copy with another value at a path or under another name; with `undefined`, without the entry. */
function changed(
  value: JsonValue,
  [first, ...rest]: Path,
  to: JsonValue | undefined,
  name?: string,
): JsonValue | undefined {
  if (first === undefined) return to;
  if (Array.isArray(value))
    return value.map((item, i) => (i === first ? (changed(item, rest, to, name) as JsonValue) : item));
  const entries = Object.entries(value as JsonObject).flatMap(([key, member]): [string, JsonValue][] => {
    if (key !== first) return [[key, member as JsonValue]];
    const other = changed(member as JsonValue, rest, to, name);
    return other === undefined ? [] : [[rest.length === 0 ? (name ?? key) : key, other]];
  });
  return Object.fromEntries(entries);
}
