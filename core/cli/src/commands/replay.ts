import { defined } from "@mrlm/spec";
import { openReplay, prepareRun, replayRun, type ReplayResult } from "@mrlm/runtime";
import type { CommandContext } from "../command-context.ts";
import { progressBar } from "../console/progress-bar.ts";
import type { ReplayOptions } from "../declarations/replay.ts";
import { EXIT } from "../exit-codes.ts";
import { openDescribed, unlessLost } from "../services/environments.ts";
import { withRecordedRun } from "../services/recorded-run.ts";

/** Learns again from the stored batches of a run, and compares the weights with the recorded checksums. Returns the exit code. */
export async function replay(context: CommandContext, path: string, { from, out }: ReplayOptions): Promise<number> {
  const { console } = context;
  const opened = await openReplay(path, from);
  const bar = progressBar(console, "replay");
  try {
    const { run, loaded, first, last } = opened;
    const result = await withRecordedRun(context, loaded, async ({ plugins, openEngine, atEnd, notice, ...parts }) => {
      const environments = await openDescribed({
        config: loaded.config,
        configPath: run.configPath,
        overrides: [],
        directory: context.directory,
        plugins,
        notice,
        json: console.json,
      });
      atEnd(() => environments.stop());
      const { host, scripts, lost } = environments;
      const prepared = await unlessLost(lost, prepareRun(loaded, { host, scripts, algorithms: plugins }));
      const { engine, isShared } = await openEngine();
      console.note(`replaying the steps ${first + 1} to ${last} of ${run.path}`);
      return replayRun({
        opened,
        prepared,
        host,
        engine,
        isEngineShared: isShared,
        ...defined({ out }),
        plugins: Object.fromEntries(plugins.registry.entries.map(({ name, version }) => [name, version])),
        logger: parts.logger,
        stop: AbortSignal.any([parts.stop, lost]),
        onEvent: (event) => {
          if (event.kind === "notice") {
            bar.clear();
            notice(event.text);
          }
          if (event.kind !== "iteration") return;
          bar.update(event.step - first, last - first, `${event.seconds.toFixed(2)} s/step`);
          console.emit({ event: "replayed", step: event.step });
        },
      });
    });
    bar.end();
    if (result === undefined) return EXIT.interrupted;
    console.print(describe(result));
    console.emit({ event: "replay", ...result, unfinished: result.unfinished ?? null });
    return EXIT.ok;
  } finally {
    bar.end();
    opened.log.close();
  }
}

function describe({ first, last, steps, equal, unrecorded, missed, unfinished }: ReplayResult): string {
  const lines = [`${steps} steps replayed (${first + 1} to ${last}): ${equal} checksums are equal, 0 differ.`];
  if (equal === 0) lines.push("No weights were compared: the run recorded no publication in these steps.");
  if (unrecorded > 0) lines.push(`${unrecorded} publications of the replay have no recorded checksum.`);
  if (missed > 0)
    lines.push(
      `${missed} recorded checksums were not reached: the run published there for a reason that its configuration no longer states.`,
    );
  if (unfinished !== undefined)
    lines.push(`The run ended during step ${unfinished}: ${last} is its last complete step.`);
  return lines.join("\n");
}
