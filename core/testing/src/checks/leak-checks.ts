import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { SimulatedEnvironment } from "@mrlm/spec";
import { Defect } from "../check/defect.ts";
import { withEnvironment } from "../contract/changed-environment.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { LiveResources } from "../contract/live-resources.ts";
import { type Ending, playProbe, probeFixture } from "../contract/probe-episode.ts";
import { makeSubject, type Subject } from "../contract/subject.ts";
import { inProcess } from "../transports.ts";

const ENDINGS: readonly Ending[] = [
  "played to its end",
  "aborted in reset",
  "aborted in step",
  "aborted in scoring",
  "closed in reset",
  "closed in step",
  "failed in reset",
  "failed in step",
];
/** Episodes of each ending, and the number of resources of one kind that is a leak. */
const EPISODES = 20;
const LEAST = 5;
/** Time for the episodes of an ending, in milliseconds. Slow ones are fewer. */
const EPISODES_MS = 3_000;
/** Time in which resources must be released, in milliseconds: processes end asynchronously. */
const RELEASE_MS = 2_000;
/** Episodes over which memory is measured, and the time for them in milliseconds. */
const MEASURED = 1_000;
const MEASURED_MS = 6_000;
/** Growth that is a leak, in bytes: in all, and in one episode. */
const GROWTH = 2 ** 20;
const GROWTH_OF_EPISODE = 1_024;

/** Checks of leaks: timers, handles, child processes, listeners, files and memory that remain after episodes. */
export const leakChecks: readonly EnvironmentCheck[] = [
  {
    code: "RESOURCE_LEAKED",
    name: "releases what its episodes acquire",
    quick: false,
    timeoutMs: 120_000,
    run: async (subject) => {
      // A resource that is made once is no leak.
      await playMany(subject, "played to its end", 2);
      for (const ending of ENDINGS) {
        const resources = await LiveResources.start();
        try {
          const played = await playMany(subject, ending, EPISODES);
          const [left] = await resources.left(RELEASE_MS, LEAST);
          if (left === undefined) continue;
          const { name, count, stack } = left;
          const cause = new Error(name);
          if (stack !== undefined) cause.stack = stack;
          throw new Defect(
            "RESOURCE_LEAKED",
            `After ${played} episodes, each ${ending}, the process still has ${count} x ${name}.`,
            stack === undefined ? {} : { cause },
          );
        } finally {
          await resources.stop();
        }
      }
    },
  },
  {
    code: "MEMORY_LEAKED",
    name: "uses no more memory with every episode",
    quick: false,
    timeoutMs: 60_000,
    run: async (subject) => {
      const collectGarbage = garbageCollector();
      const heap = (): number => {
        collectGarbage();
        return process.memoryUsage().heapUsed;
      };
      const fixture = probeFixture(subject);
      const deadline = performance.now() + MEASURED_MS;
      const measured: { readonly episodes: number; readonly bytes: number }[] = [];
      let episodes = 0;
      for (; episodes < MEASURED && performance.now() < deadline; episodes++) {
        if (episodes > 0 && episodes % (MEASURED / 10) === 0) measured.push({ episodes, bytes: heap() });
        await playProbe(subject, fixture, "played to its end", episodes);
      }
      measured.push({ episodes, bytes: heap() });
      // A cache that fills once grows in the beginning only: the smaller growth of both halves counts.
      const [first, middle, last] = [measured[0], measured[measured.length >> 1], measured.at(-1)];
      if (first === undefined || middle === undefined || last === undefined || measured.length < 3) return;
      const growths = [growth(first, middle), growth(middle, last)];
      const perEpisode = Math.min(...growths);
      if (perEpisode < GROWTH_OF_EPISODE || last.bytes - first.bytes < GROWTH) return;
      const mib = ((last.bytes - first.bytes) / 2 ** 20).toFixed(1);
      throw new Defect(
        "MEMORY_LEAKED",
        `The heap grew by ${mib} MiB over ${last.episodes - first.episodes} episodes, ${(perEpisode / 1_024).toFixed(1)} KiB each.`,
      );
    },
  },
];

/** Plays episodes in sessions of a host of their own, which is closed afterwards. Returns their number. */
async function playMany(subject: Subject, ending: Ending, count: number): Promise<number> {
  const plugins = withEnvironment(subject.plugins, subject.definition.id, (environment) =>
    failing(environment, ending),
  );
  const own = await makeSubject(plugins, subject.definition.id, inProcess, subject.ref().options);
  try {
    const deadline = performance.now() + EPISODES_MS;
    let played = 0;
    for (; played < count && (played < LEAST || performance.now() < deadline); played++)
      await playProbe(own, probeFixture(own), ending, played);
    return played;
  } finally {
    await own.close();
  }
}

/** Returns the environment, whose call fails after its work if the ending is a failure. */
function failing(environment: SimulatedEnvironment, ending: Ending): SimulatedEnvironment {
  const fails = async <T>(work: Promise<T>): Promise<T> => {
    await work;
    throw new Error("A check made this call fail.");
  };
  return {
    reset: (options) => (ending === "failed in reset" ? fails(environment.reset(options)) : environment.reset(options)),
    step: (action, options) =>
      ending === "failed in step" ? fails(environment.step(action, options)) : environment.step(action, options),
    close: async () => environment.close?.(),
  };
}

function growth(
  one: { readonly episodes: number; readonly bytes: number },
  other: { readonly episodes: number; readonly bytes: number },
): number {
  return (other.bytes - one.bytes) / Math.max(1, other.episodes - one.episodes);
}

/** Returns V8's garbage collector, which programs do not see without a flag. */
function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
