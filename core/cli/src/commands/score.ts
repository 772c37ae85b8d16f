import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { PluginHost } from "@mrlm/runtime";
import { type JsonObject, MrlmError, type Scorer } from "@mrlm/spec";
import type { CommandContext } from "../command.ts";

/** What the command line says. */
export interface ScoreArguments {
  readonly scorer: string;
  readonly file: string;
}

/** Prints each row of the file with its verdict, as JSONL. */
export async function scoreFile({ directory }: CommandContext, { scorer: id, file }: ScoreArguments): Promise<void> {
  if (!existsSync(file)) throw new MrlmError("CONFIG_NOT_FOUND", `There is no file ${file}.`);
  const plugins = await PluginHost.discover({ directory });
  try {
    const scorer = await plugins.service("scorer", id, "the command `mrlm score`");
    let line = 0;
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      line++;
      if (text.trim() !== "") process.stdout.write(`${JSON.stringify(await judge(scorer, text, `${file}:${line}`))}\n`);
    }
  } finally {
    await plugins.close();
  }
}

async function judge(scorer: Scorer, text: string, place: string): Promise<JsonObject> {
  const row = parseRow(text, place);
  const { gold, answer, schema, options } = row as { gold: string; answer: string; schema?: string; options?: JsonObject };
  const grade = await scorer.score({ gold, answer, ...(schema === undefined ? {} : { schema }), ...(options === undefined ? {} : { options }) });
  return { ...row, verdict: grade.verdict, reward: grade.reward.scored ? grade.reward.value : null, reason: grade.reason, ...(grade.detail === undefined ? {} : { detail: grade.detail }) };
}

function parseRow(text: string, place: string): JsonObject {
  let row: JsonObject;
  try {
    row = JSON.parse(text) as JsonObject;
  } catch (cause) {
    throw new MrlmError("DATA_INVALID", `${place} is not JSON: ${(cause as Error).message}`, { cause });
  }
  for (const field of ["gold", "answer"]) {
    if (typeof row?.[field] !== "string") throw new MrlmError("DATA_INVALID", `${place} has no text in "${field}".`);
  }
  return row;
}
