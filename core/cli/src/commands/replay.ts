import { openReplay, replayRun, type ReplayResult } from "@mrlm/runtime";
import type { CommandContext } from "../command-context.ts";
import { withRecordedRun } from "../services/recorded-run.ts";

/** Options of `mrlm replay`. */
export interface ReplayArguments {
  readonly from: string;
  readonly out?: string;
}

/** Learns again from the stored batches of a run, and compares the weights with the recorded checksums. */
export async function replay(context: CommandContext, path: string, { from, out }: ReplayArguments): Promise<void> {
  const { console } = context;
  const opened = await openReplay(path, from);
  try {
    const { run, loaded, first, last } = opened;
    const result = await withRecordedRun(
      context,
      { loaded, configPath: run.configPath },
      ({ notice, isEngineShared, ...parts }) => {
        console.note(`replaying the steps ${first + 1} to ${last} of ${run.path}`);
        return replayRun({
          opened,
          ...parts,
          isEngineShared,
          ...(out === undefined ? {} : { out }),
          onEvent: (event) => {
            if (event.kind === "notice") notice(event.text);
            if (event.kind === "iteration") console.emit({ event: "replayed", step: event.step });
          },
        });
      },
    );
    console.print(describe(result));
    console.emit({ event: "replay", ...result, unfinished: result.unfinished ?? null });
  } finally {
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
