import { canonicalJson, type LoadedConfig, type RunDirectory } from "@mrlm/runtime";
import { defined, type JsonObject, MrlmError } from "@mrlm/spec";
import type { EnvironmentRef } from "@mrlm/spec/host";
import type { NumberedEpisode } from "@mrlm/store";

/** Number of episodes by default. */
const EPISODES = 1_000;

/** Returns the newest episodes of a run, or of a task or split of it, in order of play. Throws EPISODE_NOT_FOUND where there are none. */
export function storedEpisodes(run: RunDirectory, task: string | undefined, limit = EPISODES): NumberedEpisode[] {
  const reader = run.readEpisodes();
  const found = reader?.find({ task, order: "newest", limit }) ?? [];
  reader?.close();
  if (found.length > 0) return found.toReversed();
  const which = task === undefined ? "" : ` of task "${task}"`;
  throw new MrlmError("EPISODE_NOT_FOUND", `${run.path} has no episodes${which}.`, {
    hint: "`mrlm show RUN` prints what a run has.",
  });
}

/** Returns the environments of training and evaluation, each with its options once. */
export function environmentsOf({ config }: LoadedConfig): EnvironmentRef[] {
  const all = [...config.environments, ...config.eval.environments].map(({ id, options }): EnvironmentRef => ({
    id,
    ...defined({ options }),
  }));
  return [...new Map(all.map((ref) => [canonicalJson(ref as unknown as JsonObject), ref])).values()];
}
