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

/** Keys and indices from the root of a document. */
export type ConfigPath = readonly (string | number)[];

/** A YAML text that remembers where everything stood. */
export interface SourceText {
  /** For messages: the file's name. */
  readonly name: string;
  readonly value: unknown;
  /** `config.yaml:12:3` of a value, or of the key that leads to it; the nearest ancestor for what is not there. */
  locate(path: ConfigPath, what?: "key" | "value"): string;
}

/** Reads YAML; CONFIG_INVALID with line and column when it is none. */
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

/** A key that an earlier one of its map equals. The parser's own check compares every key with every other. */
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

/** The parser and its aliases have limits of their own, which end in errors of other kinds. */
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
