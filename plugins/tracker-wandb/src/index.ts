import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin } from "@mrlm/kit";
import { MrlmError, type TrackedRun, type Tracker, type TrackerDefinition } from "@mrlm/spec";
import { pythonOf, startTracker, type Tracker as TrackerProcess } from "./child.ts";
import { type Options, options } from "./options.ts";

const CHECK_MS = 120_000;
/** Limit in bytes of queued rows while W&B connects or is slow: thousands of iterations. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** Exit codes with their meaning in W&B: 255 stands for Ctrl-C. */
const EXIT_CODES = { finished: 0, stopped: 255, failed: 1 };

/** `wandb`: sends metrics to Weights & Biases by its Python SDK in a separate process. */
export const wandb: TrackerDefinition<Options> = {
  name: "wandb",
  description: "Metrics in Weights & Biases, online or offline.",
  options,
  async check({ python, mode }) {
    const tracker = startTracker(pythonOf(python), ["--check", mode ?? ""]);
    const fault = await within(tracker, CHECK_MS, "it did not answer");
    if (fault === undefined) return;
    throw new MrlmError("TRACKER_UNAVAILABLE", `W&B cannot be used: ${fault}.`, {
      hint:
        fault.includes("import") || fault.includes("does not start")
          ? "`pip install wandb` for a Python of yours, and name it by the option `python` or MRLM_WANDB_PYTHON."
          : "Give WANDB_API_KEY, run `wandb login`, or set the option `mode: offline`.",
    });
  },
  start: async (run, chosen) => track(run, chosen),
};

function track({ run, name, config }: TrackedRun, { python, finish_seconds, ...chosen }: Options): Tracker {
  const tracker = startTracker(pythonOf(python), []);
  let fault: string | undefined;
  let ended = false;
  void tracker.fault.then((text) => ([ended, fault] = [true, text]));
  const { stdin } = tracker.child.process;
  const send = (message: object): void => {
    if (ended) throw failure(fault ?? "its process ended early");
    if ((stdin?.writableLength ?? 0) > MAX_WAITING_BYTES) {
      tracker.child.kill();
      throw failure(`it does not keep up, and ${MAX_WAITING_BYTES} bytes wait`);
    }
    stdin?.write(`${JSON.stringify(message)}\n`);
  };
  const { project, entity, group, tags, mode } = chosen;
  send({
    init: {
      project,
      entity,
      group,
      tags,
      mode,
      name,
      id: runId(run),
      resume: "allow",
      dir: run,
      config: chosen.config ? config : {},
    },
  });
  return {
    log: async ({ step, stage, metrics }) => send({ log: { ...metrics, step, stage } }),
    async close(status) {
      send({ finish: EXIT_CODES[status] });
      stdin?.end();
      const late = await within(
        tracker,
        finish_seconds * 1000,
        `it was not done ${finish_seconds} s after the end of the run; \`wandb sync\` sends what lies in ${run}/wandb`,
      );
      if (late !== undefined) throw failure(late);
    },
  };
}

/** Returns the id of a run in W&B. A file in the directory of the run keeps it, so that a resumed run has the same id. */
function runId(run: string): string {
  const file = join(run, "wandb", "run-id");
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    const id = randomBytes(6).toString("hex");
    mkdirSync(join(run, "wandb"), { recursive: true });
    writeFileSync(file, `${id}\n`);
    return id;
  }
}

const failure = (fault: string): MrlmError => new MrlmError("TRACKER_FAILED", `W&B: ${fault}.`);

/** Waits for the end of a child and returns its fault. Kills the child after `ms` and returns `late`. */
async function within(tracker: TrackerProcess, ms: number, late: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => (tracker.child.kill(), resolve(late)), ms);
  try {
    return await Promise.race([tracker.fault, promise]);
  } finally {
    clearTimeout(timer);
  }
}

export default definePlugin({ name: "@mrlm/tracker-wandb", trackers: [wandb] });
