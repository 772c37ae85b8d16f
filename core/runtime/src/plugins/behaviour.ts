import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { z } from "zod";
import { canonicalJson } from "../names/canonical-json.ts";

const FORMAT = 1;

/** `a`: an action, which the fixture chose; `r`: what the environment returned. Then 16 hexadecimal digits of the line's SHA-256. */
const line = z.string().regex(/^[ar][0-9a-f]{16}$/);

const behaviourSchema = z.strictObject({
  format: z.literal(FORMAT),
  environments: z.record(
    z.string(),
    z.strictObject({ fixtures: z.record(z.string(), z.strictObject({ hash: z.string(), lines: z.array(line) })) }),
  ),
});

/** Recorded behaviour of the environments of a plugin: a hash of the transcript of each fixture, and of each line of it. */
export type Behaviour = z.infer<typeof behaviourSchema>;

/** Behaviour of a fixture: hash of its whole transcript, and of each of its lines. */
export type FixtureBehaviour = Behaviour["environments"][string]["fixtures"][string];

/** Entry of a transcript: an action, or what `reset` or `step` returned. */
export interface TranscriptLine {
  readonly kind: "action" | "returned";
  /** JSON with sorted keys. */
  readonly text: string;
}

/** Difference of two recorded behaviours. */
export interface BehaviourDifference {
  /** `math@2`. */
  readonly environment: string;
  readonly fixture: string;
  /**
   * - `changed`: the environment returned something else after equal actions;
   * - `action`: the fixture chose another action after equal observations, so the transcripts cannot be compared further;
   * - `added`, `removed`: only one of the two has the fixture.
   */
  readonly kind: "changed" | "action" | "added" | "removed";
  /** First different line, from 1: line 1 is the first observation, then each action and each result. */
  readonly line?: number;
  /** `fixture "right answer" of math@2 changed in line 3 (result of turn 1)`. */
  readonly description: string;
}

type Place = Omit<BehaviourDifference, "description">;

/** Returns the hashes of a transcript. */
export function behaviourOf(transcript: readonly TranscriptLine[]): FixtureBehaviour {
  const texts = transcript.map(({ kind, text }) => `${kind === "action" ? "a" : "r"}${text}`);
  return {
    hash: sha256(texts.join("\n")),
    lines: texts.map((text) => `${text.charAt(0)}${sha256(text).slice(0, 16)}`),
  };
}

/** Returns the hash of an environment's recorded behaviour; `undefined` if it has none. */
export function behaviourHash(behaviour: Behaviour | undefined, environment: string): string | undefined {
  const fixtures = behaviour?.environments[environment]?.fixtures;
  if (fixtures === undefined) return undefined;
  return sha256(canonicalJson(Object.fromEntries(Object.entries(fixtures).map(([name, { hash }]) => [name, hash]))));
}

/** File of a plugin's package with the recorded behaviour of its environments. */
export const behaviourFile = {
  name: "mrlm.behaviour.json",

  /** Reads the recorded behaviour in the folder of a package; `undefined` if there is none. Throws PLUGIN_INVALID for a malformed file. */
  read(directory: string): Behaviour | undefined {
    const path = join(directory, behaviourFile.name);
    return existsSync(path) ? behaviourFile.parse(readFileSync(path, "utf8"), path) : undefined;
  },

  /** Parses the content of a file. `path` names it in errors. */
  parse(text: string, path: string): Behaviour {
    const hint = "Write it again with `npx mrlm check --update`.";
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new MrlmError("PLUGIN_INVALID", `${path} is not JSON.`, { hint, cause: error });
    }
    const result = behaviourSchema.safeParse(value);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    throw new MrlmError("PLUGIN_INVALID", `${path} is malformed: ${issue?.path.join(".")}: ${issue?.message}.`, {
      hint,
    });
  },

  /** Formats the content, with sorted keys and one fixture a line, so that its changes are easy to read. */
  format(environments: Behaviour["environments"]): string {
    const sorted = <T>(record: Readonly<Record<string, T>>): [string, T][] =>
      Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const blocks = sorted(environments).map(([id, { fixtures }]) => {
      const rows = sorted(fixtures).map(
        ([name, fixture]) => `      ${JSON.stringify(name)}: ${JSON.stringify(fixture)}`,
      );
      return `    ${JSON.stringify(id)}: { "fixtures": {\n${rows.join(",\n")}\n    } }`;
    });
    return `{\n  "format": ${FORMAT},\n  "environments": {\n${blocks.join(",\n")}\n  }\n}\n`;
  },
};

/** Compares the behaviour of the environments that both have: under one id it may not change. */
export function compareBehaviour(
  before: Behaviour["environments"],
  now: Behaviour["environments"],
): BehaviourDifference[] {
  const places = Object.entries(before).flatMap(([environment, { fixtures: old }]) => {
    const current = now[environment]?.fixtures;
    if (current === undefined) return [];
    return [...new Set([...Object.keys(old), ...Object.keys(current)])].flatMap((fixture): Place[] => {
      const [was, is] = [old[fixture], current[fixture]];
      if (was === undefined) return [{ environment, fixture, kind: "added" }];
      if (is === undefined) return [{ environment, fixture, kind: "removed" }];
      if (was.hash === is.hash) return [];
      return [{ environment, fixture, ...firstDifference(was.lines, is.lines) }];
    });
  });
  return places.map((place) => ({ ...place, description: describe(place) }));
}

function describe({ environment, fixture, kind, line: number = 1 }: Place): string {
  const name = `fixture "${fixture}" of ${environment}`;
  if (kind === "added") return `${name} is not recorded`;
  if (kind === "removed") return `${name} is recorded and no longer exists`;
  const turn = Math.floor(number / 2);
  const place =
    number === 1
      ? "the first observation"
      : number % 2 === 0
        ? `the action of turn ${turn}`
        : `the result of turn ${turn}`;
  return kind === "action"
    ? `${name} acts otherwise in line ${number} (${place}): the fixture changed, so its transcript cannot be compared`
    : `${name} changed in line ${number} (${place})`;
}

function firstDifference(was: readonly string[], is: readonly string[]): Pick<BehaviourDifference, "kind" | "line"> {
  const length = Math.max(was.length, is.length);
  for (let index = 0; index < length; index++) {
    if (was[index] === is[index]) continue;
    // An end that comes earlier or later is the environment's: its last result states it.
    const isAction = was[index]?.startsWith("a") === true && is[index]?.startsWith("a") === true;
    return { kind: isAction ? "action" : "changed", line: index + 1 };
  }
  // The hashes of lines are shortened.
  return { kind: "changed", line: length };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
