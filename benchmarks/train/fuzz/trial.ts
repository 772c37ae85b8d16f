import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  openRun,
  policyOptions,
  prepareRun,
  type PreparedRun,
  RunDirectory,
  trainedPolicy,
  trainRun,
} from "@mrlm/runtime";
import { type JsonObject, MrlmError } from "@mrlm/spec";
import { computedOtherwise, gradientComplaints, hasLearnt, iterationRows, recordComplaints } from "./complaints.ts";
import type { Drawn } from "./draw.ts";
import type { Place } from "./place.ts";
import { compareWeights } from "./weights.ts";

/** Result of a configuration. */
export interface Verdict {
  readonly kind: "trained" | "refused" | "stopped";
  readonly complaints: readonly string[];
}

/** Errors that a run may raise only after it has played: there was nothing to learn from. */
const FOUND_OUT_LATER = [/There is not one pair to learn from/];

/** Trains with a configuration, repeats the run, resumes it from a checkpoint, and changes the token budget. Reports all faults. */
export async function tryOut({ config, strategy, chance }: Drawn, place: Place): Promise<Verdict> {
  const prepared = await place.prepare(JSON.stringify(config, undefined, 2)).catch((error: unknown) => error as Error);
  if (prepared instanceof Error)
    return {
      kind: "refused",
      complaints: [MrlmError.isInstance(prepared) ? `${prepared.code} ${prepared.message}` : String(prepared.stack)],
    };
  const keepsTokens = prepared.config.output.trajectories;
  const engine = await place.engine(strategy);
  const train = async (run: PreparedRun, by = engine): Promise<string> =>
    (await trainRun({ prepared: run, host: place.host, engine: by })).directory;
  const made: string[] = [];
  try {
    const before = join(mkdtempSync(join(place.runs, "before-")), "model");
    made.push(dirname(before));
    await forgetModels(engine);
    await engine.createModel(policyOptions(prepared.config));
    await engine.export(
      "policy",
      before,
      trainedPolicy(prepared.config).model.lora === undefined ? {} : { mergeAdapter: true },
    );
    const first = await train(prepared);
    made.push(first);
    const rows = iterationRows(first);
    const { isSame, nonFinite } = compareWeights(before, join(first, "model"));
    const complaints = [...recordComplaints(first), ...gradientComplaints(rows)];
    if (isSame && hasLearnt(rows) === "yes") complaints.push("there were gradients, and the weights are as they were");
    const decays = prepared.stages.some(
      ({ learners: [learner] }) =>
        (learner?.options as { readonly weight_decay?: number } | undefined)?.weight_decay !== 0,
    );
    if (!isSame && hasLearnt(rows) === "no" && !decays)
      complaints.push("there was no gradient, and the weights have changed");
    if (nonFinite.length > 0) complaints.push(`not finite: ${nonFinite.join(", ")}`);

    const second = await train(prepared);
    made.push(second);
    complaints.push(...difference(first, second, "the same again", keepsTokens));

    const checkpoints = readdirSync(join(first, "checkpoints"));
    const resumed = `${first}-resumed`;
    cpSync(first, resumed, { recursive: true });
    made.push(resumed);
    rmSync(join(resumed, "model"), { recursive: true, force: true });
    const at = chance.pick(checkpoints);
    const { run, loaded, checkpoint } = await openRun(join(resumed, "checkpoints", at), () => undefined);
    await trainRun({
      prepared: await prepareRun(loaded, { host: place.host, algorithms: place.plugins }),
      host: place.host,
      engine,
      run,
      ...(checkpoint === undefined ? {} : { checkpoint }),
    });
    complaints.push(...difference(first, resumed, `resumed at ${at}`, keepsTokens));

    const { model } = trainedPolicy(prepared.config);
    if (["float32", "auto"].includes(model.dtype)) {
      const other = await place.prepare(
        JSON.stringify({
          ...config,
          model: {
            ...(config["model"] as JsonObject),
            micro_batch_tokens: model.micro_batch_tokens === 64 ? 1000 : 64,
          },
        }),
      );
      const third = await train(other);
      made.push(third);
      const { updates_per_step = 1, minibatches = 1 } = (prepared.stages[0]?.learners[0]?.options ?? {}) as {
        readonly updates_per_step?: number;
        readonly minibatches?: number;
      };
      const tolerance = updates_per_step * minibatches === 1 ? 1e-5 : 3e-3;
      complaints.push(...computedOtherwise(rows, iterationRows(third), tolerance, "under another token budget"));
      const [stage] = prepared.stages;
      // Samples may differ: ranks share the work, and the last bits of a batch depend on what is in it.
      if (strategy !== "one" && stage?.learners[0]?.plan === undefined) {
        const alone = await train(prepared, await place.engine("one"));
        made.push(alone);
        complaints.push(...computedOtherwise(rows, iterationRows(alone), tolerance, "in one process"));
      }
    }
    return { kind: "trained", complaints };
  } catch (error) {
    const isMrlm = MrlmError.isInstance(error);
    if (isMrlm && FOUND_OUT_LATER.some((known) => known.test(error.message)))
      return { kind: "stopped", complaints: [] };
    return {
      kind: "stopped",
      complaints: [
        isMrlm && error.code !== "INTERNAL" ? `${error.code} ${error.message}` : String((error as Error).stack),
      ],
    };
  } finally {
    for (const path of made) rmSync(path, { recursive: true, force: true });
  }
}

async function forgetModels(engine: Awaited<ReturnType<Place["engine"]>>): Promise<void> {
  const { models } = await engine.describe();
  for (const { model } of models.toReversed()) await engine.releaseModel(model);
}

/** @param keepsTokens whether the runs keep the tokens of episodes, which are compared then */
function difference(one: string, other: string, what: string, keepsTokens: boolean): string[] {
  const complaints = compareWeights(join(one, "model"), join(other, "model")).isSame ? [] : [`${what}: other weights`];
  for (const [part, of] of Object.entries({ metrics: metricsOf, ...(keepsTokens && { episodes: episodesOf }) })) {
    const [expected, found] = [of(one), of(other)] as [unknown[], unknown[]];
    const at = expected.findIndex((row, i) => !isDeepStrictEqual(row, found[i]));
    if (at >= 0)
      complaints.push(
        `${what}: ${part}[${at}] ${JSON.stringify(expected[at]).slice(0, 1500)} became ${JSON.stringify(found[at])?.slice(0, 1500)}`,
      );
    else if (expected.length !== found.length)
      complaints.push(`${what}: ${expected.length} ${part} became ${found.length}`);
  }
  return complaints;
}

/** Returns the rows of metrics without durations. */
function metricsOf(directory: string): unknown[] {
  return RunDirectory.open(directory)
    .metrics.rows()
    .map(({ seconds: _, ...row }) => row);
}

function episodesOf(directory: string): unknown[] {
  const store = RunDirectory.open(directory).readEpisodes();
  if (store === undefined) return [];
  try {
    return Array.from(store.read(), ({ step, stage, trajectory }) => ({
      step,
      stage,
      ...trajectory,
      seconds: undefined,
    }));
  } finally {
    store.close();
  }
}
