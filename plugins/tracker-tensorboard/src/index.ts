import { appendFileSync, mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { definePlugin } from "@mrlm/kit";
import type { Tracker, TrackerDefinition } from "@mrlm/spec";
import { z } from "zod";
import { record, scalarsEvent, sessionStartEvent, versionEvent } from "./event.ts";

const options = z.strictObject({
  directory: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Where event files are written, in a folder named after the run; default: `tensorboard` in the run's directory",
    ),
});
type Options = z.output<typeof options>;

/** `tensorboard`: writes metrics as event files, which `tensorboard --logdir` reads. */
export const tensorboard: TrackerDefinition<Options> = {
  name: "tensorboard",
  description: "Metrics as TensorBoard event files.",
  options,
  async start({ run, resumedAt }, { directory }): Promise<Tracker> {
    const folder =
      directory === undefined
        ? join(run, "tensorboard")
        : join(resolve(directory), run.split(/[\\/]/).at(-1) as string);
    mkdirSync(folder, { recursive: true });
    const now = (): number => Date.now() / 1000;
    const file = join(
      folder,
      `events.out.tfevents.${String(Math.floor(now())).padStart(10, "0")}.${hostname()}.${process.pid}.mrlm`,
    );
    const write = (event: Uint8Array): void => appendFileSync(file, record(event));
    write(versionEvent(now()));
    if (resumedAt !== undefined) write(sessionStartEvent(now(), resumedAt));
    return {
      log: async ({ step, metrics }) => write(scalarsEvent(now(), step, metrics)),
      close: async () => undefined,
    };
  },
};

export default definePlugin({ name: "@mrlm/tracker-tensorboard", trackers: [tensorboard] });
