import { statSync } from "node:fs";
import { didYouMean, RunDirectory, storePlaceOf } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import {
  isPostgres,
  type QueryLimits,
  type QueryResult,
  queryStore,
  STORE_FILE,
  type StorePlace,
  VIEWS,
} from "@mrlm/store";

const MEGABYTES = 2_048;

/**
 * Queries the store of a run, of one of its checkpoints, or the store that the path names. Rejects as `queryStore` does, with the nearest name where one
 * is unknown; with RUN_NOT_FOUND; with EPISODE_NOT_FOUND for a run without a store.
 */
export async function queryRun(
  path: string,
  sql: string,
  limits: Omit<QueryLimits, "megabytes">,
): Promise<QueryResult> {
  try {
    return await queryStore(storeOf(path), sql, { ...limits, megabytes: MEGABYTES });
  } catch (error) {
    throw withNearest(error, sql);
  }
}

/** Returns the store of a run, of one of its checkpoints, or the file or database itself. */
function storeOf(path: string): StorePlace {
  if (isPostgres(path) || statSync(path, { throwIfNoEntry: false })?.isFile() === true) return storePlaceOf(path);
  const run = RunDirectory.open(path);
  if (run.hasEpisodes) return run.store;
  throw new MrlmError("EPISODE_NOT_FOUND", `${run.path} has no ${STORE_FILE}.`, {
    hint: "A run has it from its first iteration on. Runs of earlier versions of mrlm keep their episodes in another form.",
  });
}

/** Messages of SQLite and of Postgres. */
const UNKNOWN = [/no such (column|table): "?([\w.]*\w)/, /(column|relation) "?([\w.]*\w)"? does not exist/];

/** Adds the nearest name of a view or column to an error about an unknown one. */
function withNearest(error: unknown, sql: string): unknown {
  if (!MrlmError.hasCode(error, "QUERY_INVALID")) return error;
  const [, kind, name] = UNKNOWN.map((message) => message.exec(error.message)).find((found) => found !== null) ?? [];
  if (kind === undefined || name === undefined) return error;
  const named = VIEWS.filter((view) => new RegExp(`\\b${view.name}\\b`, "i").test(sql));
  const candidates =
    kind !== "column"
      ? VIEWS.map((view) => view.name)
      : (named.length === 0 ? VIEWS : named).flatMap(({ columns }) => columns.map((column) => column.name));
  const suggestion = didYouMean(name.split(".").at(-1) as string, candidates);
  const hint =
    kind !== "column"
      ? `The views are ${candidates.join(", ")}; docs/reference/store.md has their columns.`
      : error.hint;
  return new MrlmError("QUERY_INVALID", `${error.message}${suggestion}`, { hint, cause: error });
}
