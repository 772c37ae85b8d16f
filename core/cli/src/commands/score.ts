import { jsonlRows } from "@mrlm/kit";
import { PluginHost } from "@mrlm/runtime";
import { fileFault, type JsonObject, type JsonValue, MrlmError, type Scorer, type ScoreRequest } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";

/** Options of `mrlm score`. */
export interface ScoreArguments {
  readonly scorer: string;
  readonly file: string;
}

/** Prints each row of the file with its verdict, as JSONL. Rejects with DATA_INVALID before the first verdict. */
export async function scoreFile({ directory }: CommandContext, { scorer: id, file }: ScoreArguments): Promise<void> {
  const rows = await readRows(file);
  const plugins = await PluginHost.discover({ directory });
  try {
    const scorer = await plugins.service("scorer", id, "the command `mrlm score`");
    for (const row of rows) process.stdout.write(`${JSON.stringify(await score(scorer, row))}\n`);
  } finally {
    await plugins.close();
  }
}

async function score(scorer: Scorer, row: ScoreRequest): Promise<JsonObject> {
  const grade = await scorer.score(row);
  return {
    ...row,
    verdict: grade.verdict,
    reward: grade.reward.scored ? grade.reward.value : null,
    reason: grade.reason,
    ...(grade.detail === undefined ? {} : { detail: grade.detail }),
  };
}

async function readRows(file: string): Promise<ScoreRequest[]> {
  const rows = await Array.fromAsync(jsonlRows(file), ({ value, place }) => rowOf(value, place)).catch(
    (cause: unknown) => {
      if (MrlmError.isInstance(cause)) throw cause;
      throw new MrlmError("DATA_INVALID", `The file ${file} cannot be read: ${fileFault(cause)}.`, {
        hint: "Check the path.",
        cause,
      });
    },
  );
  if (rows.length > 0) return rows;
  throw new MrlmError("DATA_INVALID", `${file} has no rows.`, { hint: "It needs one JSON object on each line." });
}

/** Checks a row and returns it with all its members. Throws DATA_INVALID. */
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
