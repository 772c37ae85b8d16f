/** Labelled pairs: the examples in the parent folder of the repository, if present, and those of the package. */
import { existsSync, readFileSync } from "node:fs";
import type { VerifyOptions } from "../../plugins/scorer-math/src/options.ts";

export interface Pair {
  /** The class of the pair, for figures by class. */
  readonly kind?: string;
  readonly expected: string;
  readonly answer: string;
  readonly equivalent: boolean;
  readonly options?: VerifyOptions;
}

const FILES = {
  examples: new URL("../../../shared/data/math_equivalence_examples.jsonl", import.meta.url),
  corpus: new URL("../../plugins/scorer-math/test/corpus.jsonl", import.meta.url),
  outputs: new URL("../../plugins/scorer-math/test/outputs.jsonl", import.meta.url),
};

/** Returns the pairs of each file that is present, by its name. */
export function labelledPairs(): Readonly<Record<string, readonly Pair[]>> {
  const present = Object.entries(FILES).filter(([, url]) => existsSync(url));
  return Object.fromEntries(
    present.map(([name, url]) => {
      const lines = readFileSync(url, "utf8")
        .split("\n")
        .filter((line) => line.trim() !== "");
      return [name, lines.map(parsePair)];
    }),
  );
}

/** Parses a row; the examples outside the repository name the expected answer `gold`. */
function parsePair(line: string): Pair {
  const { gold, ...row } = JSON.parse(line) as Pair & { readonly gold?: string };
  return gold === undefined ? row : { ...row, expected: gold };
}
