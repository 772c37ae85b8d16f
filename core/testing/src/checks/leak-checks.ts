import { setTimeout as delay } from "node:timers/promises";
import type { SimulatedEnvironment } from "@mrlm/spec";
import { Defect } from "../check/defect.ts";
import { collectGarbage } from "../contract/collect-garbage.ts";
import { withEnvironment } from "../contract/changed-environment.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { type LeftResource, LiveResources } from "../contract/live-resources.ts";
import { type Ending, placeOf, playProbe, probeFixture, turnsOf } from "../contract/probe-episode.ts";
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
/** Episodes of each ending, of which some are played at once, and the number of resources of one kind that is a leak. */
const EPISODES = 20;
const AT_ONCE = 5;
const LEAST = 5;
/** Time for the episodes of an ending, in milliseconds. Slow ones are fewer. */
const EPISODES_MS = 600;
/** Time in which resources must be released, in milliseconds: processes end asynchronously. */
const RELEASE_MS = 2_000;
/** Episodes over which memory is measured, in windows, and the time for them in milliseconds. */
const MEASURED = 1_350;
const MEASURED_MS = 1_800;
const WINDOWS = 9;
/** Smallest number of windows: where episodes are slow, they take more time. */
const MIN_WINDOWS = 5;
/** Growth that is a leak, in bytes: of an episode, and in all. */
const GROWTH_OF_EPISODE = 256;
const GROWTH = 2 ** 18;
/** Growth that is a leak, as a multiple of the deviation of the measurements from their line. */
const DEVIATIONS = 8;
/** Least slope of each half, as a share of the whole one. */
const STEADY = 0.6;
/** Rounds of which each must show a leak. */
const ROUNDS = 2;

/** Checks of leaks: timers, handles, child processes, listeners, files and memory that remain after episodes. */
export const leakChecks: readonly EnvironmentCheck[] = [
  {
    code: "RESOURCE_LEAKED",
    name: "releases what its episodes acquire",
    quick: false,
    timeoutMs: 120_000,
    run: async (subject) => {
      if ((await leftAfter(subject, ENDINGS)) === undefined) return;
      // A resource that is made once is no leak.
      await withOwn(subject, async (own) => {
        for (let index = 0; index < 2; index++) await own.play("played to its end", index);
      });
      for (const ending of ENDINGS) {
        let left = await leftAfter(subject, [ending]);
        // Another program that writes to the folder would have to do so again.
        if (left?.isShared === true) left = await leftAfter(subject, [ending]);
        if (left === undefined) continue;
        const { name, count, stack, played } = left;
        const cause = new Error(name);
        if (stack !== undefined) cause.stack = stack;
        throw new Defect(
          "RESOURCE_LEAKED",
          `After ${played} episodes, each ${ending}, the process still has ${count} x ${name}.`,
          stack === undefined ? {} : { cause },
        );
      }
    },
  },
  {
    code: "MEMORY_LEAKED",
    name: "uses no more memory with every episode, played to its end or not",
    quick: false,
    timeoutMs: 60_000,
    run: (subject) =>
      withOwn(subject, async (own) => {
        await assertSteadyMemory(own, ["played to its end"]);
        await assertSteadyMemory(own, ENDINGS.slice(1));
      }),
  },
];

/** Plays episodes with each of these endings, and returns a resource that they left. */
async function leftAfter(
  subject: Subject,
  endings: readonly Ending[],
): Promise<(LeftResource & { readonly played: number }) | undefined> {
  const resources = await LiveResources.start(subject.directory);
  try {
    let played = 0;
    const [listener] = await withOwn(subject, async (own) => {
      for (const ending of endings) played += await playMany(own, ending);
      return resources.leftListeners(RELEASE_MS, LEAST);
    });
    const left = listener ?? (await resources.left(RELEASE_MS, LEAST))[0];
    return left && { ...left, played };
  } finally {
    await resources.stop();
  }
}

/** Throws a defect if episodes that end in these ways by turns keep memory, in each round. */
async function assertSteadyMemory(own: OwnEnvironment, endings: readonly Ending[]): Promise<void> {
  let grown: Measurement | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    grown = growthOf(await measure(own, endings));
    if (grown === undefined) return;
  }
  const { episodes, bytes } = grown as Measurement;
  const mib = (bytes / 2 ** 20).toFixed(1);
  const which = endings.length === 1 ? `each ${endings[0]}` : "aborted, closed or failed in turn";
  throw new Defect(
    "MEMORY_LEAKED",
    `Memory grew by ${mib} MiB over ${episodes} episodes, ${which}: ${(bytes / 1_024 / episodes).toFixed(1)} KiB each.`,
  );
}

/** Measures memory after windows of episodes. A slow environment has fewer in a window. The first window warms up. */
async function measure(own: OwnEnvironment, endings: readonly Ending[]): Promise<Measurement[]> {
  const measured: Measurement[] = [];
  const start = performance.now();
  for (let window = 0, episodes = 0; episodes < MEASURED; window++) {
    if (performance.now() - start > MEASURED_MS && window >= MIN_WINDOWS) break;
    const end = performance.now() + MEASURED_MS / WINDOWS;
    const first = episodes;
    while (episodes - first < MEASURED / WINDOWS && (performance.now() < end || episodes - first < endings.length))
      await own.play(endings[episodes % endings.length] as Ending, episodes++);
    measured.push({ episodes, bytes: await usedBytes() });
  }
  return measured;
}

/** Memory in use after a number of episodes. */
interface Measurement {
  readonly episodes: number;
  readonly bytes: number;
}

/** Returns the bytes of live objects, with the buffers outside of V8's heap. */
async function usedBytes(): Promise<number> {
  collectGarbage();
  // Buffers of collected objects are freed afterwards.
  await delay(1);
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Returns the growth if it is a leak. A cache that fills grows in the beginning only: each half of the episodes must show the leak. */
export function growthOf(measured: readonly Measurement[]): Measurement | undefined {
  const middle = measured.length >> 1;
  const parts = [measured, measured.slice(0, middle + 1), measured.slice(middle)];
  const slopes = parts.map((part) => slopeOf(part));
  const [slope = 0] = slopes;
  const episodes = (measured.at(-1)?.episodes ?? 0) - (measured[0]?.episodes ?? 0);
  const rests = measured.map((each) => each.bytes - slope * each.episodes);
  const rest = median(rests);
  const deviation = median(rests.map((each) => Math.abs(each - rest)));
  const bytes = slope * episodes;
  const isLeak =
    bytes >= Math.max(GROWTH, DEVIATIONS * deviation) &&
    Math.min(...slopes) >= Math.max(GROWTH_OF_EPISODE, STEADY * slope);
  return isLeak ? { episodes, bytes } : undefined;
}

/** Returns the median slope between two measurements (Theil 1950, Sen 1968), in bytes for each episode: single outliers do not change it. */
function slopeOf(measured: readonly Measurement[]): number {
  return median(
    measured.flatMap((one, i) =>
      measured.slice(i + 1).map((other) => (other.bytes - one.bytes) / (other.episodes - one.episodes)),
    ),
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
}

/** The environment in a host of its own, whose calls can fail. */
interface OwnEnvironment {
  play(ending: Ending, index: number): Promise<void>;
}

/** Makes a host with the environment, uses it and closes it. */
async function withOwn<T>(subject: Subject, use: (own: OwnEnvironment) => Promise<T>): Promise<T> {
  let [failingCall, turns, created] = [undefined as Ending | undefined, 1, 0];
  const plugins = withEnvironment(subject.plugins, subject.definition.id, (environment) =>
    failing(environment, () => failingCall, placeOf(created++, turns).turn),
  );
  const own = await makeSubject(plugins, subject.definition.id, inProcess, subject.ref().options);
  try {
    const fixture = probeFixture(own);
    turns = await turnsOf(own, fixture);
    return await use({
      play: async (ending, index) => {
        failingCall = ending;
        await playProbe(own, fixture, ending, placeOf(index, turns));
      },
    });
  } finally {
    await own.close();
  }
}

/** Plays episodes, some at once. Returns their number. */
async function playMany(own: OwnEnvironment, ending: Ending): Promise<number> {
  const deadline = performance.now() + EPISODES_MS;
  let played = 0;
  for (; played < EPISODES && (played < LEAST || performance.now() < deadline); played += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => own.play(ending, played + i)));
  return played;
}

/** Returns the environment, whose reset or the step of a turn fails after its work while the ending is that failure. */
function failing(
  environment: SimulatedEnvironment,
  ending: () => Ending | undefined,
  turn: number,
): SimulatedEnvironment {
  let steps = 0;
  const fails = async <T>(work: Promise<T>): Promise<T> => {
    await work;
    throw new Error("A check made this call fail.");
  };
  return {
    reset: (options) => {
      steps = 0;
      return ending() === "failed in reset" ? fails(environment.reset(options)) : environment.reset(options);
    },
    step: (action, options) =>
      ending() === "failed in step" && steps++ === turn
        ? fails(environment.step(action, options))
        : environment.step(action, options),
    close: async () => environment.close?.(),
  };
}
