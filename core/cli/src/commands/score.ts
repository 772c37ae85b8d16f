import { jsonlRows } from "@mrlm/kit/service";
import { chatMessage, fromChatMessage } from "@mrlm/kit/learning";
import {
  defined,
  fileFault,
  isObject,
  type JsonObject,
  type JsonValue,
  type Message,
  MrlmError,
  type Scorer,
  type ScoreRequest,
} from "@mrlm/spec";
import { isStore } from "@mrlm/store";
import type { CommandContext } from "../command-context.ts";
import { flagOf } from "../declarations/flag-groups.ts";
import { readJsonObject } from "../declarations/parsers.ts";
import type { ScoreOptions } from "../declarations/score.ts";
import { judgeStored } from "./judge-run.ts";
import { scoreStored } from "./score-run.ts";
import { graderPlugins } from "../services/grader-plugins.ts";
import { queryRun } from "../services/query-run.ts";

/** Largest number of rows of a query, and its time. */
const LIMITS = { rows: 1_000_000, seconds: 600 };

/** Prints each row with its verdict, as JSONL; with `--judge`, the agreement of two judges; with `--run` and no rows, which rewards of its environments differ. Rejects with DATA_INVALID before the first verdict. */
export async function scoreRows(context: CommandContext, args: ScoreOptions): Promise<void> {
  const { directory } = context;
  const { scorer: id, judge, run } = args;
  // A store has no configuration of environments that a scorer could replace.
  const hasConfig = run !== undefined && (id === undefined || !isStore(run));
  const isOfRun = hasConfig && args.file === undefined && args.query === undefined;
  const ofGrader = id === undefined ? (["judgeOptions"] as const) : [];
  const beside = ([...ofGrader, "task", "numEpisodes"] as const).find((name) => args[name] !== undefined);
  if (judge !== undefined) {
    if (isOfRun && id === undefined) return judgeStored(context, { ...args, run, judge });
    throw new MrlmError(
      "USAGE",
      "--judge judges the episodes of a run: it takes --run, and no --scorer, --file or --query.",
      {
        hint: "For example --run runs/RUN --judge rules@1.",
      },
    );
  }
  if (isOfRun && (id !== undefined || args.judgeOptions === undefined)) return scoreStored(context, { ...args, run });
  if (beside !== undefined)
    throw new MrlmError(
      "USAGE",
      `${flagOf(beside)} has no effect without --judge${beside === "judgeOptions" ? " or --scorer" : " or --run alone"}.`,
    );
  if (id === undefined)
    throw new MrlmError("USAGE", "mrlm score needs --scorer, or --run with --judge or alone.", {
      hint: "For example --scorer math --file rows.jsonl, or --run runs/RUN --judge rules@1.",
    });
  const rows = await rowsOf(args);
  const plugins = await graderPlugins({
    ...{ directory, kind: "scorer", id, options: args.judgeOptions ?? {} },
    note: (line) => context.console.note(line),
  });
  try {
    const scorer = await plugins.service("scorer", id, "the command `mrlm score`");
    for (const row of rows) process.stdout.write(`${JSON.stringify(await score(scorer, row))}\n`);
  } finally {
    await plugins.close();
  }
}

/** Row with its request. */
interface ScoredRow {
  readonly row: JsonObject;
  readonly request: ScoreRequest;
}

async function score(scorer: Scorer, { row, request }: ScoredRow): Promise<JsonObject> {
  const grade = await scorer.score(request);
  return {
    ...row,
    verdict: grade.verdict,
    reward: grade.reward.scored ? grade.reward.value : null,
    reason: grade.reason,
    ...defined({ detail: grade.detail }),
  };
}

async function rowsOf({ file, run, query }: ScoreOptions): Promise<ScoredRow[]> {
  if (file !== undefined && run === undefined && query === undefined) return readRows(file);
  if (file === undefined && run !== undefined && query !== undefined) return queryRows(run, query);
  throw new MrlmError("USAGE", "Rows to score come from --file, or from --run and --query.", {
    hint: 'For example --file rows.jsonl, or --run runs/RUN --query "select ... as expected, text as answer from v_turns".',
  });
}

async function queryRows(run: string, sql: string): Promise<ScoredRow[]> {
  const { columns, rows, isCut } = await queryRun(run, sql, LIMITS);
  if (isCut)
    throw new MrlmError("USAGE", `The query has more than ${LIMITS.rows} rows.`, {
      hint: "Add LIMIT and OFFSET to it.",
    });
  if (rows.length === 0) throw new MrlmError("DATA_INVALID", "The query has no rows.", { hint: "Select other rows." });
  return rows.map((row, i) => {
    const place = `row ${i + 1} of the query`;
    const value: JsonObject = Object.fromEntries(columns.map((name, column) => [name, row[column] ?? null]));
    if (typeof value["options"] === "string")
      value["options"] = readJsonObject(value["options"], `options of ${place}`);
    return rowOf(value, place);
  });
}

async function readRows(file: string): Promise<ScoredRow[]> {
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

/** Checks a row. Throws DATA_INVALID. */
function rowOf(value: JsonValue, place: string): ScoredRow {
  const row = isObject(value) ? value : {};
  const textless = ["expected", "answer", ...OPTIONAL_TEXTS.filter((field) => field in row)].find(
    (field) => typeof row[field] !== "string",
  );
  if (textless !== undefined) throw new MrlmError("DATA_INVALID", `${place} has no text in "${textless}".`);
  const { options = {}, messages } = row;
  if (!isObject(options)) throw new MrlmError("DATA_INVALID", `${place} has no object in "options".`);
  const texts = row as { [field: string]: string };
  const texted = Object.fromEntries(
    OPTIONAL_TEXTS.filter((field) => field in row).map((field) => [field, texts[field]]),
  );
  return {
    row,
    request: {
      answer: texts["answer"] as string,
      expected: texts["expected"] as string,
      options,
      ...texted,
      ...(messages === undefined ? {} : { messages: messagesOf(messages, place) }),
    },
  };
}

const OPTIONAL_TEXTS = ["schema", "question"];

/** Parses messages in the form of data files. */
function messagesOf(given: JsonValue, place: string): Message[] {
  const parsed = Array.isArray(given) ? given.map((each) => chatMessage.safeParse(each)) : undefined;
  if (parsed?.every(({ success }) => success) === true)
    return parsed.flatMap(({ data }) => (data === undefined ? [] : [fromChatMessage(data)]));
  throw new MrlmError("DATA_INVALID", `${place} has no chat messages in "messages".`, {
    hint: 'A message is an object such as {"role": "user", "content": "..."}.',
  });
}
