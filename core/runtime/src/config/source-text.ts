import { isMap, isPair, isScalar, isSeq, LineCounter, type Document, type Node, parseDocument } from "yaml";
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
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const [error] = document.errors;
  if (error !== undefined)
    throw new MrlmError("CONFIG_INVALID", `${at(error.pos[0])}: this is not valid YAML: ${error.message}`, {
      hint: "Correct the syntax at that place.",
      cause: error,
    });
  return {
    name,
    value: document.toJS() as unknown,
    locate: (path, what = "value") => at(offsetOf(document, path, what)),
  };
}

function offsetOf(document: Document, path: ConfigPath, what: "key" | "value"): number {
  let node: unknown = document.contents;
  let offset = (node as Node | null)?.range?.[0] ?? 0;
  for (const [depth, segment] of path.entries()) {
    const isLast = depth === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(segment));
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
