import { renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { keptEpisodes } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { htmlReport } from "@mrlm/ui";
import type { CommandContext } from "../command-context.ts";
import { episodeText } from "../console/episode-text.ts";
import type { ReportOptions } from "../declarations/report.ts";

const PARTS = { best: "Best episodes", worst: "Worst episodes", failed: "Failed and unscored episodes" } as const;

/** Writes a run as one HTML page. The file is complete, or not there. */
export async function report(
  { console, directory }: CommandContext,
  run: string,
  { html, numEpisodes: limit }: ReportOptions,
): Promise<void> {
  const file = resolve(directory, html);
  const parts = Object.entries(PARTS) as [keyof typeof PARTS, string][];
  const episodes = await Promise.all(
    parts.map(async ([order, heading]) => ({
      heading,
      texts: limit === 0 ? [] : await episodeTexts(run, order, limit),
    })),
  );
  const page = htmlReport(run, episodes);
  const partial = `${file}.partial`;
  writeFileSync(partial, page);
  renameSync(partial, file);
  console.print(`wrote ${file} (${Math.ceil(Buffer.byteLength(page) / 1024)} KiB)`);
  console.emit({ event: "report", file, bytes: Buffer.byteLength(page) });
}

/** Returns the texts of episodes; none for a run that has played none yet. */
async function episodeTexts(run: string, order: keyof typeof PARTS, limit: number): Promise<string[]> {
  try {
    return (await keptEpisodes(run, { task: undefined, order, limit })).map(episodeText);
  } catch (error) {
    if (MrlmError.hasCode(error, "EPISODE_NOT_FOUND")) return [];
    throw error;
  }
}
