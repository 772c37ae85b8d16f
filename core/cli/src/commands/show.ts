import { type KeptEpisode, keptEpisodes } from "@mrlm/runtime";
import { defined, type JsonObject } from "@mrlm/spec";
import { type EpisodeQuery, withoutPassword } from "@mrlm/store";
import type { CommandContext } from "../command-context.ts";
import { episodeText } from "../console/episode-text.ts";
import type { ShowOptions } from "../declarations/show.ts";
import { plainJson } from "../services/plain-json.ts";

/** Prints episodes of runs, episode stores or recorded files: conversation, reward with its components, end. */
export async function show({ console }: CommandContext, paths: readonly string[], args: ShowOptions): Promise<void> {
  const order: EpisodeQuery["order"] =
    args.best === true ? "best" : args.worst === true ? "worst" : args.failed === true ? "failed" : "newest";
  for (const [i, path] of paths.entries()) {
    const episodes = await keptEpisodes(path, { task: args.task, order, limit: args.numEpisodes });
    for (const episode of episodes) console.emit({ ...toJson(episode), ...(paths.length > 1 ? { path } : {}) });
    if (paths.length > 1) console.print(`${i > 0 ? "\n" : ""}${withoutPassword(path)}:\n`);
    console.print(episodes.length > 0 ? episodes.map(episodeText).join("\n\n") : NOTHING[order]);
  }
}

const NOTHING: Readonly<Record<EpisodeQuery["order"], string>> = {
  newest: "There are no episodes.",
  failed: "No episode failed, and all have a score.",
  best: "No episode has a score.",
  worst: "No episode has a score.",
};

/** Converts an episode to an event without its tokens, which the files contain. */
function toJson({ key, step, stage, row: { segments: _, renderer: __, ...row } }: KeptEpisode): JsonObject {
  return {
    event: "episode",
    ...defined({ episode_key: key, step, stage }),
    ...plainJson(row),
  };
}
