import { defined } from "@mrlm/kit";
import {
  type AlgorithmContext,
  type AlgorithmRun,
  episodeMetrics,
  type IterationReport,
  type JsonObject,
  stepMetrics,
  type TrajectoryGroup,
} from "@mrlm/kit/learning";
import { branchReport } from "./branch-returns.ts";
import type { GrpoSettings } from "./options.ts";
import { RoleAverages } from "./role-averages.ts";
import { memberRewards, rewardedGroups, toSamples, turnsInState } from "./samples.ts";
import { update } from "./update.ts";

/** Starts group relative policy optimization. Each iteration takes groups, compares the rewards of their members and updates the policy. */
export function startGrpo(context: AlgorithmContext, options: GrpoSettings): AlgorithmRun {
  let iteration = 0;
  let optimizerSteps = 0;
  const averages = new RoleAverages(options.baseline_decay);

  async function iterate(): Promise<IterationReport> {
    const { played, groups, refills, version } = await context.episodes.take();
    const began = performance.now();
    const { rewarded, counts } = rewardedGroups(played, options, version, context);
    // Groups without signal that no refill replaced stay: their advantages are exactly 0, and they count in the denominator.
    const accepted = new Set(groups);
    const kept = rewarded.filter((_, i) => accepted.has(played[i] as TrajectoryGroup));
    const samples = toSamples(kept, options, version, averages).filter(({ episodes }) => episodes.length > 0);
    // After the advantages: no episode is compared with itself.
    if (options.baseline === "role_average")
      averages.update(
        rewarded.flatMap(({ roles }) => roles.map((role) => ({ key: role.key, rewards: memberRewards(role) }))),
      );
    const report = samples.length === 0 ? undefined : await update(context, options, samples, optimizerSteps);
    optimizerSteps += report?.steps.length ?? 0;
    iteration++;
    const branches = options.credit === "branch" ? branchReport(played) : undefined;
    const inState = options.credit === "state" ? turnsInState(rewarded) : undefined;
    return {
      iteration,
      metrics: {
        ...episodeMetrics(played, counts, context),
        "groups/without_signal": {
          sum: rewarded.filter(({ hasSignal }) => !hasSignal).length,
          count: played.length,
        },
        "groups/refills": refills,
        ...defined({ "groups/turns_in_state": inState }),
        ...branches?.metrics,
        ...report?.loss.report(report.normalizer),
        ...(report === undefined
          ? {}
          : {
              ...stepMetrics(report.steps),
              "tokens/computed": report.computedTokens,
            }),
      },
      seconds: { training: (performance.now() - began) / 1000 },
      credits: report?.credits ?? [],
      notices: [
        ...(report?.steps.flatMap((step) => step.notices) ?? [
          "No episode of this iteration can be used for training: the weights stay as they are",
        ]),
        ...(branches?.notices ?? []),
        ...(iteration === 1 && inState?.sum === 0
          ? [
              "No turn has the state of a turn of another episode of its group (info.stateKey of observations): credit: state compares turns by their index",
            ]
          : []),
      ],
    };
  }

  return {
    async *run() {
      while (iteration < options.steps && !context.signal.aborted) yield await iterate();
    },
    state: (): JsonObject => ({ iteration, optimizerSteps, averages: averages.state() }),
    restore(state) {
      averages.restore((state["averages"] ?? {}) as JsonObject);
      iteration = Number(state["iteration"]);
      optimizerSteps = Number(state["optimizerSteps"]);
    },
  };
}
