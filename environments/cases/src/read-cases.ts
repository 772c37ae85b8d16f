import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { MrlmError } from "@mrlm/kit";
import { fileFault } from "@mrlm/kit/service";
import type { Case } from "./case.ts";
import { readEvalite } from "./evalite/read-evalite.ts";
import { readRows } from "./read-rows.ts";
import type { CasesOptions } from "./options.ts";
import { readPromptfoo } from "./promptfoo/read-promptfoo.ts";

type Kind = "rows" | "evalite" | "promptfoo";
/** Kind of a file, by its extension. */
const KINDS: Readonly<Record<string, Kind>> = {
  ".jsonl": "rows",
  ".ts": "evalite",
  ".mts": "evalite",
  ".js": "evalite",
  ".mjs": "evalite",
  ".yaml": "promptfoo",
  ".yml": "promptfoo",
  ".json": "promptfoo",
};

/** Returns whether equal answers have equal scores: functions of a file may do anything. */
export function determinismOf({ data }: CasesOptions): "full" | "none" {
  return KINDS[extname(data.path)] === "rows" ? "full" : "none";
}

/** Cases of a version of a file. */
export interface CaseList {
  /** Identity of the version. */
  readonly key: string;
  readonly cases: readonly Case[];
}

/** Lists by key: the functions of a file cannot stand in a task. */
const lists = new Map<string, CaseList>();
/** Lists that are being read, by key. A file that is read twice at once is imported once. */
const reading = new Map<string, Promise<CaseList>>();
/** Node keeps the first result of an import, also a failed one: each reading has addresses of its own. */
let readings = 0;

/** Returns a list that was read before. */
export function listOf(key: string): CaseList {
  const list = lists.get(key);
  if (list === undefined)
    throw new MrlmError("TASK_NOT_FOUND", "The cases of this task were not read in this process.");
  return list;
}

/** Reads and checks all cases of a file. Rejects with DATA_INVALID, with file, case and remedy, for the first that is malformed; with OPTIONS_INVALID for a scorer that the file does not take. */
export async function readCases(path: string, { scorer, schema }: CasesOptions): Promise<CaseList> {
  const kind = KINDS[extname(path)];
  if (kind === undefined)
    throw new MrlmError("DATA_INVALID", `${path} is none of the files with cases that can be read.`, {
      hint: `Name a file that ends in one of ${Object.keys(KINDS).join(", ")}.`,
    });
  if (kind !== "rows" && scorer !== undefined)
    throw new MrlmError("OPTIONS_INVALID", `The scorer ${scorer} has no effect: ${path} has scorers of its own.`, {
      hint: "Leave `scorer` out, or write the cases as JSONL.",
    });
  const content = await readFile(path).catch((cause: unknown) => {
    throw new MrlmError("DATA_INVALID", `${path} cannot be read: ${fileFault(cause)}.`, {
      hint: "The path is relative to the configuration; on a server that a run did not start itself, to its --data-root.",
      cause,
    });
  });
  const key = createHash("sha256")
    .update(JSON.stringify([path, scorer, schema]))
    .update(content)
    .digest("hex");
  const known = lists.get(key) ?? reading.get(key);
  if (known !== undefined) return known;
  const read = readList(path, content.toString(), { kind, key, scorer, schema }).finally(() => reading.delete(key));
  reading.set(key, read);
  return read;
}

async function readList(
  path: string,
  text: string,
  { kind, key, ...options }: { readonly kind: Kind; readonly key: string } & Parameters<typeof readRows>[1],
): Promise<CaseList> {
  const version = `${key}-${readings++}`;
  const cases =
    kind === "rows"
      ? await readRows(path, options)
      : kind === "evalite"
        ? await readEvalite(path, version)
        : await readPromptfoo(path, text, version);
  if (cases.length === 0) throw new MrlmError("DATA_INVALID", `${path} has no cases.`, { hint: "Add some." });
  const list = { key, cases };
  lists.set(key, list);
  return list;
}
