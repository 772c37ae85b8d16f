import { writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { EvaluationPlan, playMissing, storedGroups, type StoredKind } from "@mrlm/runtime";
import { MrlmError, type TaskId, type Trajectory } from "@mrlm/spec";
import { PageSeat, serveUi } from "@mrlm/ui";
import type { CommandContext } from "../command-context.ts";
import { evaluationReport } from "../console/evaluation-report.ts";
import type { TryOptions } from "../declarations/try.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { browserSeat } from "../person/browser-seat.ts";
import { PERSON, personPlayer } from "../person/person-player.ts";
import { Ratings } from "../person/ratings.ts";
import { terminalSeat } from "../person/terminal-seat.ts";
import { unlessLost } from "../services/environments.ts";
import type { EvaluationCell } from "../services/evaluation-cells.ts";
import { EvaluationRun, kindsOf, type RecordedResult } from "../services/evaluation-run.ts";
import { measureCell } from "../services/measure-cell.ts";
import { outputFile } from "../services/output-file.ts";
import { type RolloutSessionConfig, rolloutSessionConfig } from "../services/rollout-session-config.ts";
import { modelFetcher } from "../services/stored-models.ts";

type PlayTasks = NonNullable<Parameters<typeof measureCell>[3]["play"]>;

/** Lets a person play tasks, beside a model if one is named, and rate what was played. */
export async function tryEnvironment(context: CommandContext, environment: string, args: TryOptions): Promise<void> {
  const { console } = context;
  const { rateOnly = false, model, task: first = 0, tasks = args.task === undefined ? 10 : 1, ...flags } = args;
  const { samples = rateOnly ? 1 : 0, config } = flags;
  const file = ratingsFile(args);
  const page = args.ui === true ? new PageSeat() : undefined;
  const seat =
    page === undefined
      ? terminalSeat(process.stdin, console.json ? process.stderr : process.stdout)
      : browserSeat(page);
  const left = new AbortController();
  const interrupts = listenForInterrupts(console, "stopping");
  const signal = AbortSignal.any([interrupts.drain, left.signal]);
  const opened: { run?: EvaluationRun; viewer?: Awaited<ReturnType<typeof serveUi>> } = {};
  const results: RecordedResult[] = [];
  const name = `try-${basename(environment).replaceAll(/[^\w.-]/g, "-")}`;
  const cellOf = (player: string): EvaluationCell => ({
    ...{ name: player, directory: process.cwd(), first, tasks, isExact: args.tasks !== undefined },
    ...(player === PERSON
      ? { samples: 0, person: (policy) => personPlayer(seat, policy, () => left.abort()) }
      : { samples }),
    args: { ...flags, environment, model: player },
  });
  const measure = async (cell: EvaluationCell, given: RolloutSessionConfig, playTasks?: PlayTasks): Promise<void> => {
    const measured = await measureCell(context, cell, given, {
      ...{
        drain: signal,
        retries: false,
        labelOf: (id: string) => id,
        onStopped: ({ results: partial }) => results.push(...partial),
      },
      async open(resolved) {
        if (opened.run !== undefined) return opened.run;
        const run = await EvaluationRun.open(undefined, undefined, { name, config: resolved });
        opened.run = run;
        if (page !== undefined) {
          opened.viewer = await serveUi({ directories: [run.directory.path], address: "127.0.0.1:0", seat: page });
          const url = `http://127.0.0.1:${opened.viewer.port}/play#${page.key}`;
          console.print(`play on ${url}`);
          console.emit({ event: "listening", url, pid: process.pid });
        }
        return run;
      },
      ...(playTasks && { play: playTasks }),
    });
    results.push(...measured.results);
    await opened.run?.addResults(results, false);
    console.emit({ event: "evaluation", ...measured.record });
  };
  const printResults = (): void => {
    for (const result of results)
      console.print(`\n${result.name}, ${result.environment}\n\n${evaluationReport(result)}`);
  };
  try {
    let place = config;
    if (model !== undefined) {
      const cell = cellOf(model);
      const given = await rolloutSessionConfig(cell.args, modelFetcher(context), cell);
      place ??= given.run === undefined ? undefined : join(given.run, "config.yaml");
      await measure(cell, given);
    }
    if (file !== undefined) writeFileSync(file, "");
    const ratings = new Ratings({ seat, file, signal });
    const ofModel = results.flatMap(kindsOf);
    /** Shows and rates the episodes of a task. The person may leave. */
    const rate = async (task: TaskId, run: EvaluationRun, own: readonly Trajectory[]): Promise<void> => {
      const isKept = await ratings.rate({ task, own, others: episodesOf(run, ofModel, task) }, run.directory.path);
      if (!isKept) left.abort();
    };
    if (!rateOnly) {
      const cell = cellOf(PERSON);
      // The flags of an endpoint are for the model.
      const { baseUrl: _, modelOptions: __, ...own } = cell.args;
      const person = { ...cell, args: { ...own, config: place } };
      const given = await rolloutSessionConfig(person.args, modelFetcher(context), person);
      await measure(person, given, async (plan, { rollouts, lost }, run) => {
        for (const task of plan.cell.environment.tasks) {
          if (left.signal.aborted) return;
          seat.show(`\n--- ${plan.cell.label}, task ${task}`);
          const only = planOfTask(plan, task, run);
          const parts = { rollouts, store: run.store, onEpisode: () => undefined };
          await unlessLost(lost, playMissing(only, { ...parts, signal: AbortSignal.any([signal, lost]) })).catch(
            (error: unknown) => {
              if (!left.signal.aborted) throw error;
            },
          );
          if (!left.signal.aborted) await rate(task, run, episodesOf(run, only.kinds, task));
        }
      });
    } else {
      const { run } = opened as { readonly run: EvaluationRun };
      for (const { task } of ofModel[0]?.tasks ?? []) if (!left.signal.aborted) await rate(task, run, []);
    }
    printResults();
    opened.run?.ended({ status: "finished" });
    if (page !== undefined && !signal.aborted) {
      page.add({ kind: "end" });
      console.note("all tasks were played; the run is shown until Ctrl-C");
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    }
  } catch (error) {
    // The tasks that were played count, also as a baseline of later evaluations.
    await opened.run?.addResults(results, false);
    printResults();
    const { code, message } = MrlmError.isInstance(error) ? error : { code: "INTERNAL", message: String(error) };
    opened.run?.ended(
      interrupts.drain.aborted ? { status: "stopped" } : { status: "failed", error: { code, message } },
    );
    throw error;
  } finally {
    seat.close();
    interrupts.dispose();
    await opened.viewer?.close();
    await opened.run?.close();
    if (opened.run !== undefined) console.note(`run: ${opened.run.directory.path}`);
  }
}

/** Checks the flags, and returns the path of the file for ratings. Throws USAGE. */
function ratingsFile({ model, rateOnly, samples, output, overwrite }: TryOptions): string | undefined {
  if (model === undefined && (rateOnly === true || samples !== undefined))
    throw new MrlmError("USAGE", `${rateOnly ? "--rate-only" : "--samples"} is for the episodes of a model: --model.`);
  if (output === undefined) return undefined;
  if (extname(output) !== ".jsonl") throw new MrlmError("USAGE", `--output ${output} does not end in .jsonl.`);
  return outputFile(output, { overwrite: overwrite === true });
}

function planOfTask({ cell }: EvaluationPlan, task: TaskId, run: EvaluationRun): EvaluationPlan {
  const reader = run.read();
  try {
    const environment = { ...cell.environment, tasks: [task] };
    return new EvaluationPlan({ ...cell, environment }, reader, { retries: false });
  } finally {
    reader.close();
  }
}

/** Returns the stored episodes of a task: greedy, then sampled. */
function episodesOf(run: EvaluationRun, kinds: readonly StoredKind[], task: TaskId): Trajectory[] {
  const reader = run.read();
  try {
    const ofTask = kinds.map((kind) => ({ ...kind, tasks: [{ task }] }));
    return [...storedGroups(ofTask, reader)].flatMap(({ trajectories }) => trajectories);
  } finally {
    reader.close();
  }
}
