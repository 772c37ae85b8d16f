import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { RunDirectory, storedScores } from "@mrlm/runtime";
import { defined, MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import { shownPath } from "../console/shown-path.ts";
import type { ImproveOptions } from "../declarations/improve.ts";
import { EXIT } from "../exit-codes.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { kindsOf, type RecordedResult, resultsOf } from "../services/evaluation-run.ts";
import { measuringConfig, NAMES, trainingConfig } from "../services/improve/configurations.ts";
import { ImprovementDirectory, type ImprovementRecord } from "../services/improve/improvement-directory.ts";
import {
  type Improvement,
  improvementReport,
  inspectionLines,
  serveLine,
  verdictLine,
} from "../services/improve/improvement-report.ts";
import { CaseInspection, type CheatSearch, type ExpectedAnswers } from "../services/improve/inspected-cases.ts";
import { assertEnough, assertSound } from "../services/improve/refusal.ts";
import { type MeasuredModel, verdictOf } from "../services/improve/verdict.ts";
import { plainJson } from "../services/plain-json.ts";
import { runEval } from "./eval.ts";
import { modelOf } from "./learn-answers.ts";
import { report } from "./report.ts";
import { train } from "./train.ts";

const CODE = "CASES_UNFIT";
/** Keys of the configuration by which training and evaluation would differ in the cases, the model or the limits. */
const FIXED_KEYS: readonly string[] = ["environments", "model", "policies", "eval", "output", "sampling"];

/** Trains a model on the cases of a file, and compares it with the model before on held-out ones. Returns the exit code: 0 where a gain is shown. */
export async function improve(
  context: CommandContext,
  file: string | undefined,
  args: ImproveOptions,
): Promise<number> {
  const { console } = context;
  const { record, existing } = requestOf(file, args);
  const logger = lineLogger((line) => console.note(line));
  const inspection = await CaseInspection.open(record, context.directory, logger);
  try {
    const { cases } = inspection;
    if (existing !== undefined) assertSame(record, cases.hash);
    assertEnough(cases);
    const model = await modelOf(record.model, context);
    if (!existsSync(model.path))
      throw new MrlmError("MODEL_DIRECTORY_MISSING", `There is no model directory ${model.path}.`);
    const { search, expected } = await inspect(context, inspection);
    assertSound(search, expected);
    for (const line of inspectionLines(cases, search, expected)) console.print(line);
    const directory = existing ?? ImprovementDirectory.create(args.output ?? "runs", { ...record, hash: cases.hash });
    const shared = { directory: directory.path, cases, expected };
    const begun = directory.run(NAMES.train);
    console.note(`directory: ${shownPath(directory.path)}`);
    const trained = await train(
      context,
      begun === undefined
        ? { config: directory.writeConfig(NAMES.train, trainingConfig(shared, model)), ...defined({ set: args.set }) }
        : { resume: begun },
    );
    const run = directory.run(NAMES.train);
    if (trained !== EXIT.ok || run === undefined) return interrupted(context, directory);
    const now = await CaseInspection.open(record, context.directory, logger);
    await now.close();
    assertSame({ ...record, hash: cases.hash }, now.cases.hash);
    const measuring = directory.run(`${NAMES.measure}-eval`);
    await runEval(
      context,
      measuring === undefined
        ? { config: directory.writeConfig(NAMES.measure, measuringConfig(shared, record.model, run)) }
        : { resume: measuring },
    ).catch((error: unknown) => {
      console.note(resumeText(directory));
      throw error;
    });
    return await conclude(context, { directory, record, run, inspection, search, expected });
  } catch (error) {
    if (MrlmError.hasCode(error, CODE))
      console.emit({ event: "improvement", verdict: "refused", reason: error.message });
    throw error;
  } finally {
    await inspection.close();
  }
}

/** Returns what is improved, of a new or an existing directory. Throws USAGE. */
function requestOf(
  file: string | undefined,
  { model, scorer, set, output, resume }: ImproveOptions,
): { readonly record: ImprovementRecord; readonly existing?: ImprovementDirectory } {
  if (resume !== undefined) {
    if ([file, model, scorer, set, output].every((each) => each === undefined)) {
      const { directory, record } = ImprovementDirectory.open(resume);
      return { record, existing: directory };
    }
    throw new MrlmError("USAGE", "--resume takes everything else from the directory: leave it out.");
  }
  const fixed = (set ?? []).find((each) => FIXED_KEYS.includes(/^[^.=[\s]*/.exec(each.trim())?.[0] as string));
  if (fixed !== undefined)
    throw new MrlmError(
      "USAGE",
      `--set ${fixed} has no place in improve: its training and its evaluation share that.`,
      {
        hint: `Set other keys, such as stages.0.steps. Improve itself decides ${FIXED_KEYS.join(", ")}.`,
      },
    );
  if (file === undefined || model === undefined)
    throw new MrlmError("USAGE", `improve needs ${file === undefined ? "a file with cases" : "--model"}.`, {
      hint: "For example: npx mrlm improve support.eval.ts --model hub:HuggingFaceTB/SmolLM2-135M-Instruct",
    });
  const isPath = existsSync(model) && !model.startsWith("hub:");
  return {
    record: { path: resolve(file), model: isPath ? resolve(model) : model, hash: undefined, ...defined({ scorer }) },
  };
}

/** Throws DATA_INVALID where the cases are others than at the beginning. */
function assertSame({ path, hash }: ImprovementRecord, now: string): void {
  if (hash === now) return;
  throw new MrlmError("DATA_INVALID", `The cases of ${path} have changed since the training began.`, {
    hint: "Put the file, and what it reads, back, or begin anew: held-out cases may have been trained on.",
  });
}

/** Searches for cheats, and grades the expected answers, until it is interrupted. */
async function inspect({ console }: CommandContext, inspection: CaseInspection) {
  const interrupts = listenForInterrupts(console, "stopping: nothing has been trained yet");
  try {
    console.note("grading the expected answers, and searching for programs that earn without solving");
    const expected = await inspection.expectedAnswers(interrupts.drain);
    const search = await inspection.searchCheats();
    if (interrupts.drain.aborted) throw new MrlmError("CANCELLED", "The check of the cases was interrupted.");
    return { search, expected };
  } finally {
    interrupts.dispose();
  }
}

interface Measured {
  readonly directory: ImprovementDirectory;
  readonly record: ImprovementRecord;
  /** Directory of the training run. */
  readonly run: string;
  readonly inspection: CaseInspection;
  readonly search: CheatSearch;
  readonly expected: ExpectedAnswers | undefined;
}

/** Compares the models, and writes the report. Returns the exit code. */
async function conclude(
  context: CommandContext,
  { directory, record, run, inspection, search, expected }: Measured,
): Promise<number> {
  const { console } = context;
  const measured = RunDirectory.open(directory.run(`${NAMES.measure}-eval`) as string);
  const results = resultsOf(measured);
  const [before, after] = (["before", "after"] as const).map((name) =>
    measuredModel(measured, results.find((result) => result.name === name) as RecordedResult),
  ) as [MeasuredModel, MeasuredModel];
  const fixed =
    expected === undefined ? undefined : await inspection.scoresOf(expected.fixed, new AbortController().signal);
  const improvement: Improvement = {
    ...{ file: record.path, model: record.model, directory: directory.path, train: run, measured: measured.path },
    ...{ cases: inspection.cases, search, expected },
    ...{ before: meanOf(before), after: meanOf(after), fixed: fixed && (meanOf({ scores: fixed }) ?? undefined) },
    verdict: verdictOf(before, after, fixed),
  };
  const file = directory.write("report.md", improvementReport(improvement));
  await report(context, measured.path, { html: resolve(directory.path, "report.html"), numEpisodes: 10 });
  const { verdict } = improvement;
  console.print(`\n${verdictLine(improvement)}\n\nreport: ${shownPath(file)}\nserve it:\n  ${serveLine(improvement)}`);
  console.emit({
    event: "improvement",
    verdict: verdict.isGain ? "gain" : "no gain",
    ...plainJson({ ...improvement, verdict: undefined, ...verdict, report: file, serve: serveLine(improvement) }),
  });
  return verdict.isGain ? EXIT.ok : EXIT.unhealthy;
}

function measuredModel(run: RunDirectory, result: RecordedResult): MeasuredModel {
  const reader = run.readEpisodes();
  const [greedy] = kindsOf(result);
  if (reader === undefined || greedy === undefined) throw new MrlmError("INTERNAL", `${run.path} has no episodes.`);
  try {
    return { summary: result.greedy, scores: storedScores(greedy, reader) };
  } finally {
    reader.close();
  }
}

/** Returns the mean score of the cases that have one. */
function meanOf({ scores }: Pick<MeasuredModel, "scores">): number | null {
  const rewards = scores.flatMap(({ reward }) => reward ?? []);
  return rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
}

function resumeText(directory: ImprovementDirectory): string {
  return `Continue with:\n  npx mrlm improve --resume ${shownPath(directory.path)}`;
}

function interrupted({ console }: CommandContext, directory: ImprovementDirectory): number {
  console.note(resumeText(directory));
  return EXIT.interrupted;
}
