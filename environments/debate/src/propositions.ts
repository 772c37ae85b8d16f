import { readFileSync } from "node:fs";

/** Proposition of a debate, with what both sides know and with points that a good debate makes. */
export interface Proposition {
  /** One sentence that a side can be for or against. */
  readonly question: string;
  /** Facts that both sides receive. */
  readonly background: string;
  /** Points for the proposition, for the judge alone. */
  readonly pro: readonly string[];
  readonly con: readonly string[];
}

/** Row of the file of the built-in propositions, which has the form of a user's own file. */
interface Row {
  readonly proposition: string;
  readonly background: string;
  readonly key_points: Pick<Proposition, "pro" | "con">;
}

/** The built-in propositions. */
export const propositions: readonly Proposition[] = readFileSync(
  new URL("../data/propositions.jsonl", import.meta.url),
  "utf8",
)
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Row)
  .map(({ proposition, background, key_points: points }) => ({ question: proposition, background, ...points }));
