import { type IterationReport, MrlmError } from "@mrlm/spec";
import type { TimedBatch } from "../play/stage-play.ts";
import { type MetricsRow, plainMetrics } from "../run/metrics-file.ts";
import type { PreparedStage } from "../prepare/prepare-stage.ts";
import { addSeconds, appendMetrics, type RunContext } from "./run-context.ts";

/**
 * Records an iteration in the run's state, metrics and episode store, and emits its events.
 * @param batch that the iteration took, if any
 * @param seconds wall time of the iteration, how much of it the engine computed, and how much of it this process rendered
 * Rejects with the first episode's error if all episodes of several iterations have failed
 */
export async function recordIteration(
  context: RunContext,
  stage: PreparedStage,
  reported: IterationReport,
  batch: TimedBatch | undefined,
  seconds: { readonly total: number; readonly engine: number; readonly rendering: number },
): Promise<void> {
  const { state, memory, replays, rewards, watch, findings, failures, duties, onEvent } = context;
  const withPlay = {
    ...reported,
    metrics: { ...reported.metrics, ...batch?.metrics },
    seconds: { ...batch?.seconds, ...reported.seconds },
  };
  const played = batch?.played ?? [];
  const learners = stage.learners.map(({ policy }) => policy);
  const watched = await watch?.addTo(withPlay, learners);
  const total = seconds.total + (watched?.seconds ?? 0);
  const { report, recorded } = rewards.addTo(replays.addTo(memory.addTo(watched?.report ?? withPlay)), played);
  state.iteration = report.iteration;
  state.step++;
  state.trainingSeconds += total;
  for (const [phase, spent] of Object.entries(report.seconds)) addSeconds(context, phase, spent);
  const { metrics, counts } = plainMetrics(report.metrics);
  const row: MetricsRow = {
    kind: "iteration",
    step: state.step,
    stage: stage.name,
    iteration: report.iteration,
    metrics,
    counts,
    seconds: { ...report.seconds, ...seconds, total },
    notices: [...(report.notices ?? []), ...recorded, ...(watched?.recorded ?? [])],
  };
  await appendMetrics(context, row);
  onEvent({
    kind: "iteration",
    stage: state.stage,
    name: stage.name,
    iterations: stage.iterations,
    step: state.step,
    report,
    played,
    seconds: total,
    engineSeconds: seconds.engine,
    renderingSeconds: seconds.rendering,
  });
  // A replay repeats what the run has reported.
  const found = duties.plays ? findings.note(row) : [];
  for (const text of [...(report.notices ?? []), ...(watched?.notices ?? []), ...found])
    onEvent({ kind: "notice", text });
  assertNearPolicy(context, report);
  const failure = failures.watch(played);
  if (failure !== undefined) onEvent({ kind: "notice", text: failure });
}

/** Throws OFF_POLICY where the weights that played are further from the newest than the configuration permits, for any policy. The step is recorded. */
function assertNearPolicy({ prepared, state }: RunContext, { metrics }: IterationReport): void {
  const { max_kl: limit } = prepared.config.play;
  if (limit === undefined) return;
  const found = Object.entries(metrics).flatMap(([name, value]) =>
    name === "offpolicy/kl" || name.endsWith("/offpolicy/kl") ? [value] : [],
  );
  const divergence = Math.max(
    ...found.map((each) => (typeof each === "number" ? each : each.sum / Math.max(1, each.count))),
  );
  if (!(divergence > limit)) return;
  throw new MrlmError(
    "OFF_POLICY",
    `The newest weights are ${divergence.toPrecision(3)} nats a token from those that played step ${state.step}, and play.max_kl is ${limit}.`,
  );
}
