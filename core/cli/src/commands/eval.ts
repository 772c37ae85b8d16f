import { asWriteFailure, evaluate, type EvaluationResult, writeAtomically } from "@mrlm/runtime";
import { defined, type JsonObject, MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { evaluationReport, tasksOf } from "../console/evaluation-report.ts";
import { count } from "../console/numbers.ts";
import { playProgress } from "../console/play-progress.ts";
import { episodesPlan, turnLimit } from "../console/run-plan.ts";
import { progressBar } from "../console/progress-bar.ts";
import type { EvalOptions } from "../declarations/eval.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { unlessLost } from "../services/environments.ts";
import { outputFile } from "../services/output-file.ts";
import { openRolloutSession, type RolloutSession } from "../services/rollout-session.ts";
import { VERSION } from "../version.ts";

/** Number of tasks by default. */
const TASKS = 100;

/** Plays held-out tasks with a model and reports the rewards. */
export async function runEval(context: CommandContext, args: EvalOptions): Promise<void> {
  const { console } = context;
  const { samples } = args;
  const wanted = wantedTasks(args);
  const output =
    args.output === undefined
      ? undefined
      : outputFile(args.output, { overwrite: args.overwrite === true, besides: [".partial"] });
  const interrupts = listenForInterrupts(console, "stopping");
  let session: RolloutSession | undefined;
  try {
    session = await openRolloutSession(context, args, interrupts.drain, "eval", (environment, sampling) => {
      const tasks = Math.min(environment.size, wanted);
      const sampled = sampling.temperature > 0 ? samples : 0;
      const turns = turnLimit(environment.maxTurns, environment.description.maxTurns);
      console.note(
        `plan: ${count(tasks, "task")}, once greedily${sampled > 0 ? ` and ${sampled} times sampled` : ""} = ${episodesPlan(tasks * (1 + sampled), turns, sampling.max_tokens)}`,
      );
    });
    const { size } = session.environment;
    const tasks = Math.min(size, wanted);
    if (tasks < wanted && (args.tasks ?? args.numEpisodes) !== undefined)
      console.note(`note: split ${args.split} has ${size} tasks: all of them are played`);
    const record = await unlessLost(
      session.lost,
      measure(context, session, args.split, {
        tasks,
        samples,
        signal: AbortSignal.any([interrupts.drain, session.lost]),
      }),
    );
    console.emit({ event: "evaluation", ...record });
    if (output === undefined) return;
    write(output, { ...record, versions: { mrlm: VERSION, ...session.engine.versions } });
    console.print(`\nwritten to ${args.output}`);
  } finally {
    interrupts.dispose();
    await session?.close();
  }
}

/** Returns the number of tasks by either name of the flag. Throws USAGE. */
function wantedTasks({ tasks, numEpisodes }: EvalOptions): number {
  if (tasks !== undefined && numEpisodes !== undefined)
    throw new MrlmError("USAGE", "--tasks and --num-episodes are two names of one number.", {
      hint: "Give --tasks alone.",
    });
  return tasks ?? numEpisodes ?? TASKS;
}

function write(path: string, record: JsonObject): void {
  try {
    writeAtomically(path, `${JSON.stringify(record, null, 2)}\n`);
  } catch (error) {
    throw asWriteFailure(error, `The results could not be written to ${path}`);
  }
}

async function measure(
  { console }: CommandContext,
  session: RolloutSession,
  split: string,
  { tasks, samples, signal }: { readonly tasks: number; readonly samples: number; readonly signal: AbortSignal },
): Promise<JsonObject> {
  const { config, environment, modelDirectory, endpoint, sampling } = session;
  const bar = progressBar(console, "eval");
  const print = (results: readonly EvaluationResult[]): void => {
    bar.end();
    for (const result of results)
      console.print(
        `${result.environment}, ${tasksOf(result)} of split ${split}, ${modelDirectory}\n\n${evaluationReport(result)}`,
      );
  };
  const results = await evaluate({
    rollouts: session.rollouts,
    environments: [
      {
        ref: environment.ref,
        tasks: Array.from({ length: tasks }, (_, i) => `${split}/${i}`),
        players: environment.players,
        ...defined({
          sides: environment.sides,
          maxTurns: environment.maxTurns,
          rewardRange: environment.description.rewardRange,
        }),
      },
    ],
    ...sampling,
    samples,
    signal,
    onEpisodes: (label, group) => session.record.add(label, [group]),
    onProgress: playProgress(bar, session.tally),
    onStopped: (partial) => {
      if (partial.length === 0) return;
      print(partial);
      console.print(
        "\nPartial: the evaluation ended before all of its episodes had. A task counts where all of its samples had ended.",
      );
      const shown = JSON.parse(JSON.stringify(partial)) as JsonObject[];
      console.emit({ event: "evaluation", partial: true, model: modelDirectory, split, results: shown });
    },
  }).finally(() => bar.end());
  print(results);
  // Each role has its own result if the model plays several.
  const record = results.length === 1 ? results[0] : { environment: environment.ref.id, tasks, results };
  return {
    ...(JSON.parse(JSON.stringify(record)) as JsonObject),
    model: modelDirectory,
    ...(endpoint === undefined ? {} : { endpoint: endpoint.endpoint, model_options: endpoint.options ?? {} }),
    options: environment.ref.options ?? {},
    split,
    sampling: { ...sampling.sampling },
    seed: config.seed,
  };
}
