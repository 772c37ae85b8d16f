import { type ErrorCode, MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { decimal } from "../console/numbers.ts";
import { progressBar } from "../console/progress-bar.ts";
import type { CheckOptions } from "../declarations/check.ts";
import type { RolloutOptions } from "../declarations/flag-groups.ts";
import type { PlayedGroups } from "./played-groups.ts";
import { faultOfEnd, faultOfOutput, type PluginFault } from "./plugin-fault.ts";
import { pluginProcess } from "./plugin-process.ts";

/** Input of play-worker.ts. */
export interface PlayRequest {
  /** Folder of the project whose plugins play. */
  readonly directory: string;
  readonly args: RolloutOptions;
  /** Number of groups. */
  readonly groups: number;
}

/** Message of play-worker.ts. */
export type PlayMessage = { readonly nextMs?: number } & (
  | { readonly event: "alive" }
  | { readonly event: "note"; readonly line: string }
  | { readonly event: "group"; readonly done: number; readonly total: number }
  | ({ readonly event: "played" } & PlayedGroups)
  | { readonly event: "fault"; readonly fault: PluginFault }
  | { readonly event: "failed"; readonly code: ErrorCode; readonly message: string; readonly hint: string }
);

/**
 * Samples groups of episodes of training tasks with a model, in a process of its own for each environment, and reports in how many the model could learn: those
 * with two different rewards. Returns what the code of plugins did to its process, by environment.
 */
export async function playForSignal(
  context: CommandContext,
  directory: string,
  environments: readonly string[],
  { play = "", baseUrl, modelOptions, maxTokens, playGroups: groups }: CheckOptions,
  signal: AbortSignal,
): Promise<Map<string, PluginFault[]>> {
  const faults = new Map<string, PluginFault[]>();
  for (const environment of environments) {
    const args = { model: play, environment, split: "train", baseUrl, modelOptions, maxTokens };
    const { played, found } = await playEnvironment(context, { directory, args, groups }, signal);
    if (found.length > 0) faults.set(environment, found);
    if (played !== undefined) reportPlayed(context, environment, play, played);
  }
  return faults;
}

async function playEnvironment(
  { console }: CommandContext,
  request: PlayRequest,
  signal: AbortSignal,
): Promise<{ readonly played: PlayedGroups | undefined; readonly found: PluginFault[] }> {
  const { environment } = request.args;
  const bar = progressBar(console, "play", { isBrief: true });
  const found: PluginFault[] = [];
  let played: PlayedGroups | undefined;
  const playing = pluginProcess<PlayMessage>("play-worker", request as never, { signal });
  try {
    let turn = await playing.next();
    for (; turn.done !== true; turn = await playing.next()) {
      const message = turn.value;
      if (message.event === "note") console.note(message.line);
      if (message.event === "group") bar.update(message.done, message.total, `groups of ${environment}`);
      if (message.event === "played") played = message;
      if (message.event === "fault") found.push(message.fault);
      if (message.event === "failed") throw new MrlmError(message.code, message.message, { hint: message.hint });
    }
    const output = faultOfOutput(turn.value.printed);
    const end = turn.value.kind === "done" ? undefined : faultOfEnd(turn.value, "the episodes of --play");
    return { played, found: [...found, output, end].filter((fault) => fault !== undefined) };
  } finally {
    bar.end();
    await playing.return(undefined as never);
  }
}

function reportPlayed(
  { console }: CommandContext,
  environment: string,
  model: string,
  { groups, groupSize, withSignal, meanReward, failed }: PlayedGroups,
): void {
  console.print(
    `environment:${environment}, played by ${model}: ${withSignal} of ${groups} groups of ${groupSize} have two different rewards; mean reward ${decimal(meanReward)}${failed > 0 ? `; ${failed} episodes failed` : ""}`,
  );
  console.emit({
    event: "play",
    ...{ environment, model, groups, with_signal: withSignal, mean_reward: meanReward ?? null, failed },
  });
}
