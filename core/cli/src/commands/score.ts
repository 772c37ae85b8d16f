import { accessSync, constants, statSync } from "node:fs";
import { jsonlRows } from "@mrlm/kit";
import { PluginHost } from "@mrlm/runtime";
import { fileFault, type JsonObject, type JsonValue, MrlmError, type Scorer, type ScoreRequest } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";

/** What the command line says. */
export interface ScoreArguments {
  readonly scorer: string;
  readonly file: string;
}

/** Prints each row of the file with its verdict, as JSONL. */
export async function scoreFile({ directory }: CommandContext, { scorer: id, file }: ScoreArguments): Promise<void> {
  try {
    accessSync(file, constants.R_OK);
    if (statSync(file).isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
  } catch (cause) {
    throw new MrlmError("CONFIG_NOT_FOUND", `The file ${file} cannot be read: ${fileFault(cause)}.`, {
      hint: "Check the path.",
      cause,
    });
  }
  const plugins = await PluginHost.discover({ directory });
  try {
    const scorer = await plugins.service("scorer", id, "the command `mrlm score`");
    for await (const { value, place } of jsonlRows(file))
      process.stdout.write(`${JSON.stringify(await judge(scorer, rowOf(value, place)))}\n`);
  } finally {
    await plugins.close();
  }
}

async function judge(scorer: Scorer, row: ScoreRequest): Promise<JsonObject> {
  const grade = await scorer.score(row);
  return {
    ...row,
    verdict: grade.verdict,
    reward: grade.reward.scored ? grade.reward.value : null,
    reason: grade.reason,
    ...(grade.detail === undefined ? {} : { detail: grade.detail }),
  };
}

/** The row with all that it holds; DATA_INVALID where it is nothing to judge. */
function rowOf(value: JsonValue, place: string): ScoreRequest & JsonObject {
  const row = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const textless = ["expected", "answer", ...("schema" in row ? ["schema"] : [])].find(
    (field) => typeof row[field] !== "string",
  );
  if (textless !== undefined) throw new MrlmError("DATA_INVALID", `${place} has no text in "${textless}".`);
  const { options = {} } = row;
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new MrlmError("DATA_INVALID", `${place} has no object in "options".`);
  return row as unknown as ScoreRequest & JsonObject;
}
