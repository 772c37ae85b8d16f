import {
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Document,
  type Node,
  parseDocument,
  type Scalar,
  visit,
} from "yaml";
import { MrlmError } from "@mrlm/spec";

/** Path of keys and indices from the root of a document. */
export type ConfigPath = readonly (string | number)[];

/** Parsed YAML text with the positions of its keys and values. */
export interface SourceText {
  /** Name of the file, for messages. */
  readonly name: string;
  readonly value: unknown;
  /** Returns the place of a value or of its key, as in `config.yaml:12:3`; for a missing value, that of its nearest ancestor. */
  locate(path: ConfigPath, what?: "key" | "value"): string;
}

/** Parses YAML. Throws CONFIG_INVALID with line and column if it is not valid. */
export function readYaml(text: string, name: string): SourceText {
  const lines = new LineCounter();
  const document = parsed(
    () => parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false }),
    name,
  );
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const invalidAt = (offset: number, problem: string): MrlmError =>
    new MrlmError("CONFIG_INVALID", `${at(offset)}: this is not valid YAML: ${problem}`, {
      hint: "Correct the syntax at that place.",
    });
  const [error] = document.errors;
  if (error !== undefined) throw invalidAt(error.pos[0], error.message);
  const repeated = parsed(() => repeatedKey(document), name);
  if (repeated !== undefined)
    throw invalidAt(repeated.range?.[0] ?? 0, `the key "${String(repeated.value)}" stands twice in one map`);
  return {
    name,
    value: parsed(() => document.toJS() as unknown, name),
    locate: (path, what = "value") => at(offsetOf(document, path, what)),
  };
}

/** Finds a key that occurs twice in one map. The parser's own check takes quadratic time. */
function repeatedKey(document: Document): Scalar | undefined {
  let found: Scalar | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = key;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

/** Runs a step of the parser. Its limits on depth and aliases throw errors of other kinds, which become CONFIG_INVALID. */
function parsed<T>(work: () => T, name: string): T {
  try {
    return work();
  } catch (cause) {
    const reason = cause instanceof RangeError ? "it is nested too deep" : (cause as Error).message;
    throw new MrlmError("CONFIG_INVALID", `${name} cannot be read as YAML: ${reason}`, {
      hint: "Write what its aliases stand for, with fewer levels.",
      cause,
    });
  }
}

function offsetOf(document: Document, path: ConfigPath, what: "key" | "value"): number {
  let node: unknown = document.contents;
  let offset = (node as Node | null)?.range?.[0] ?? 0;
  for (const [depth, segment] of path.entries()) {
    const isLast = depth === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(segment),
      );
      if (pair === undefined) return offset;
      const keyOffset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
      offset = isLast && what === "key" ? keyOffset : ((node as Node | null)?.range?.[0] ?? keyOffset);
    } else if (isSeq(node)) {
      node = node.items[Number(segment)];
      offset = (node as Node | null | undefined)?.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}
