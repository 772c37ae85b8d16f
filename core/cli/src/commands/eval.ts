import { asWriteFailure, environmentLabel, parseRequirement, type RunDirectory, writeAtomically } from "@mrlm/runtime";
import { type JsonObject, type JsonValue, MrlmError } from "@mrlm/spec";
import { comparisonTable, resultTable } from "@mrlm/ui";
import type { CommandContext } from "../command-context.ts";
import type { Console } from "../console/console.ts";
import { evaluationReport, tasksOf } from "../console/evaluation-report.ts";
import { table } from "../console/table.ts";
import type { EvalOptions } from "../declarations/eval.ts";
import { EXIT } from "../exit-codes.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { compareModels, uncompared } from "../services/compared-models.ts";
import { evaluationCells, evaluationFlags } from "../services/evaluation-cells.ts";
import { EvaluationRun, kindsOf, type RecordedResult, resultsOf } from "../services/evaluation-run.ts";
import { writeInspectLog } from "../services/inspect-log.ts";
import { measureCell, type MeasuredResults } from "../services/measure-cell.ts";
import { outputFile } from "../services/output-file.ts";
import { type RolloutSessionConfig, rolloutSessionConfig } from "../services/rollout-session-config.ts";
import { modelFetcher } from "../services/stored-models.ts";
import { plainJson } from "../services/plain-json.ts";

/** Plays held-out tasks with models and reports the rewards. Returns the exit code. */
export async function runEval(context: CommandContext, args: EvalOptions): Promise<number> {
  const { console } = context;
  const { resume, retry = false, overwrite = false } = args;
  if (retry && resume === undefined)
    throw new MrlmError("USAGE", "--retry is for --resume RUN: a new evaluation has nothing to play again.");
  const existing = resume === undefined ? undefined : EvaluationRun.find(resume);
  const requirements = (args.require ?? []).map(parseRequirement);
  const other = args.compare === undefined ? undefined : EvaluationRun.find(args.compare).directory;
  if (existing !== undefined && existing.flags === undefined)
    throw new MrlmError("USAGE", `${existing.directory.path} was played by a person, and is not resumed.`, {
      hint: "`mrlm try ENVIRONMENT --task N` begins another one at task N; `--compare` takes this one.",
    });
  const flags = evaluationFlags(args, existing?.flags);
  const { name, cells } = evaluationCells(flags);
  const output = args.output === undefined ? undefined : outputFile(args.output, { overwrite });
  const logs = args.inspect === undefined ? undefined : outputFile(args.inspect, { overwrite, besides: [".partial"] });
  if (logs !== undefined && !logs.endsWith(".eval"))
    throw new MrlmError("USAGE", `--inspect ${args.inspect} does not end in .eval.`);
  const isOfOne = new Set(cells.map((cell) => cell.name)).size === 1;
  const results: RecordedResult[] = [];
  const records: JsonObject[] = [];
  /** Ids of the environments that each model has played. */
  const played = new Map<string | undefined, string[]>();
  // The run is opened with the first environment, so that a wrong argument leaves no directory behind.
  const opened: { run?: EvaluationRun; isFinished?: boolean } = {};
  const interrupts = listenForInterrupts(console, "stopping", () => opened.run?.resumeLine);
  try {
    // A fault of the last model is reported before the first one plays.
    const given: RolloutSessionConfig[] = [];
    for (const cell of cells) given.push(await rolloutSessionConfig(cell.args, modelFetcher(context), cell));
    for (const [i, cell] of cells.entries()) {
      const measured = await measureCell(context, cell, given[i] as RolloutSessionConfig, {
        ...{ drain: interrupts.drain, retries: retry },
        labelOf(id) {
          const ids = [...(played.get(cell.name) ?? []), id];
          played.set(cell.name, ids);
          return environmentLabel(ids, ids.length - 1);
        },
        open: async (config) => (opened.run ??= await EvaluationRun.open(existing?.directory, flags, { name, config })),
        onStopped: (partial) => printPartial(console, partial),
      });
      print(console, measured);
      results.push(...measured.results);
      records.push(measured.record);
      await opened.run?.addResults(results, isOfOne);
    }
    const run = opened.run as EvaluationRun;
    const compared = compareModels(run.directory, other);
    const comparisons = compared.map(plainJson);
    const unmet = requirements.flatMap((requirement) => failuresOf(requirement, results));
    run.ended({ status: "finished", comparisons, unmet });
    opened.isFinished = true;
    if (results.length > 1) console.print(`\n${table(resultTable(results).rows)}`);
    if (compared.length > 0) {
      const { title, rows } = comparisonTable(compared);
      console.print(`\n${title}:\n${table(rows)}`);
    }
    if (other !== undefined)
      for (const environment of uncompared(run.directory, other))
        console.note(
          `note: ${other.path} has no episodes of ${environment} with these options, players and split: not compared`,
        );
    console.emit({ event: "summary", directory: run.directory.path, comparisons, unmet });
    if (output !== undefined) {
      write(output, records.length === 1 ? { ...records[0], comparisons } : { results: records, comparisons });
      console.print(`\nwritten to ${args.output}`);
    }
    if (logs !== undefined)
      for (const file of inspectLogs(logs, run.directory, { overwrite })) console.print(`\nwritten to ${file}`);
    for (const { condition, place, found } of unmet)
      console.print(
        `\nnot met: ${String(condition)}. ${String(place)} has ${found === null ? "no such number" : String(found)}`,
      );
    console.note(`run: ${run.directory.path}`);
    return unmet.length === 0 ? EXIT.ok : EXIT.unhealthy;
  } catch (error) {
    // The results hold although a file beside it could not be written.
    if (opened.isFinished) throw error;
    const { drain } = interrupts;
    const isStopped = drain.aborted && (error === drain.reason || MrlmError.hasCode(error, "CANCELLED"));
    const { code, message } = MrlmError.isInstance(error) ? error : { code: "INTERNAL", message: String(error) };
    opened.run?.ended(isStopped ? { status: "stopped" } : { status: "failed", error: { code, message } });
    if (opened.run !== undefined) console.note(opened.run.resumeLine);
    throw error;
  } finally {
    interrupts.dispose();
    await opened.run?.close();
  }
}

function print(console: Console, { results, record: { versions: _, ...record } }: MeasuredResults): void {
  printTables(console, results);
  console.emit({ event: "evaluation", ...record });
}

function printPartial(console: Console, { results, record: { model = "", split = "" } }: MeasuredResults): void {
  if (results.length === 0) return;
  printTables(console, results);
  console.print("\nPartial: the evaluation ended before all of its episodes had.");
  console.emit({ event: "evaluation", partial: true, model, split, results: results.map(plainJson) });
}

function printTables(console: Console, results: readonly RecordedResult[]): void {
  for (const result of results)
    console.print(
      `${result.environment}, ${tasksOf(result)} of split ${result.split}, ${result.name}\n\n${evaluationReport(result)}`,
    );
}

/** Writes a log for each kind of episodes of each result: NAME.eval, NAME-2.eval, .... Returns the files. Throws USAGE where one of the others exists. */
function inspectLogs(path: string, run: RunDirectory, options: { readonly overwrite: boolean }): string[] {
  return resultsOf(run)
    .flatMap((result) => kindsOf(result).map((kind) => ({ result, kind })))
    .map(({ result, kind }, i) => {
      const file = i === 0 ? path : outputFile(path.replace(/\.eval$/, `-${i + 1}.eval`), options);
      writeInspectLog(file, run, result, kind);
      return file;
    });
}

/** Returns the results of which a condition does not hold. */
function failuresOf(
  { text, numberOf, holds }: ReturnType<typeof parseRequirement>,
  results: readonly RecordedResult[],
): JsonObject[] {
  return results.flatMap((result) => {
    const found = numberOf(result);
    const isMet = found !== null && holds(found);
    return isMet ? [] : [{ condition: text, place: `${result.name} in ${result.environment}`, found }];
  });
}

function write(path: string, record: JsonValue): void {
  try {
    writeAtomically(path, `${JSON.stringify(record, null, 2)}\n`);
  } catch (error) {
    throw asWriteFailure(error, `The results could not be written to ${path}`);
  }
}
