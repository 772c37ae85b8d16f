import { defined, type Fixture, type JsonObject } from "@mrlm/spec";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { variationsOfInputs } from "../contract/changed-inputs.ts";
import { serialise } from "../contract/serialise.ts";
import { type InputRead, WatchedInputs } from "../contract/watched-inputs.ts";
import { withSession } from "../contract/play.ts";
import {
  describeDifference,
  type EpisodeStart,
  recordFixture,
  type RecordedEpisode,
  Replay,
  replay,
  variedFixtures,
} from "../contract/recorded-episode.ts";
import type { Subject } from "../contract/subject.ts";

/** Number of fixtures whose episodes are repeated, and the time after which a quick check begins no other, in milliseconds. */
const RECORDED = 6;
const QUICK_MS = 500;
const THOROUGH_MS = 2_000;
/** Time for episodes with other inputs, in milliseconds. */
const INPUTS_MS = 10_000;
/** Number of episodes that are played before an episode is repeated, and the time for them in milliseconds. */
const EARLIER = 50;
const EARLIER_MS = 1_500;
/** Number of episodes that are played beside one; fewer where an episode takes longer than `SLOW_MS`. */
const BESIDE = 7;
const BESIDE_SLOW = 2;
const SLOW_MS = 200;
/** Number of tasks or seeds of which one must change an episode. */
const VARIED = 20;
/** Number of tasks that are compared before and after their episodes, and the time after which no other is, in milliseconds. */
const TASKS_COMPARED = 5;
const TASKS_MS = 2_000;

/** Checks of determinism where an environment claims it, and that another seed or task changes an episode. */
export const determinismChecks: readonly EnvironmentCheck[] = [
  {
    code: "TASK_CHANGED",
    name: "episodes do not change their tasks",
    run: async (subject) => {
      const gold = subject.fixtures.find(({ kind }) => kind === "gold") ?? subject.fixtures[0];
      const tasks = await subject.tasks(gold?.options);
      if (tasks === undefined || gold === undefined) return;
      const { actions } = await recordFixture(subject, gold);
      const deadline = performance.now() + TASKS_MS;
      for (let index = 0; index < Math.min(TASKS_COMPARED, tasks.splits["train"] ?? 0); index++) {
        if (performance.now() > deadline) return;
        const before = serialise(await tasks.get("train", index));
        // Another check reports a source whose tasks differ by themselves.
        if (before !== serialise(await tasks.get("train", index))) return;
        await withSession(subject, gold.options, (session) => replay(session, { task: `train/${index}` }, actions));
        const difference = describeDifference([before], [serialise(await tasks.get("train", index))]);
        if (difference !== undefined)
          throw new Defect(
            "TASK_CHANGED",
            `After an episode of task train/${index} ${difference.replace("the first observation", "the task")}.`,
          );
      }
    },
  },
  {
    code: "EPISODE_NOT_REPEATED",
    name: "an episode is the same again",
    run: async (subject) => {
      const deadline = performance.now() + INPUTS_MS;
      await forEachRecorded(subject, QUICK_MS, async (recorded) => {
        const inputs = WatchedInputs.installed();
        try {
          inputs?.watch();
          const expected = await alone(subject, recorded);
          const again = await alone(subject, recorded);
          const reads = inputs?.reads ?? [];
          compare("EPISODE_NOT_REPEATED", recorded, expected, again, "a second time", reads);
          for (const { kind, changed, how, canFail } of variationsOfInputs(reads)) {
            if (performance.now() > deadline) return;
            inputs?.watch(changed);
            const other = await alone(subject, recorded);
            if (canFail === true && other.some(hasFailed)) continue;
            const ofKind = reads.filter((read) => read.kind === kind);
            compare("EPISODE_NOT_REPEATED", recorded, expected, other, how, ofKind);
          }
        } finally {
          inputs?.rest();
        }
      });
    },
  },
  {
    code: "STATE_KEPT",
    name: `an episode is the same after ${EARLIER} others`,
    quick: false,
    run: (subject) =>
      forEachRecorded(subject, THOROUGH_MS, async (recorded) => {
        const { fixture, start, actions } = recorded;
        const expected = await alone(subject, recorded);
        await withSession(subject, fixture.options, async (session) => {
          // The host draws the seed of the first one.
          await replay(session, {}, actions);
          const deadline = performance.now() + EARLIER_MS;
          const others = await startsOf(subject, fixture.options, EARLIER - 1);
          let played = 1;
          for (const other of others) {
            if (performance.now() > deadline) break;
            await replay(session, other, actions);
            played++;
          }
          const after = `after ${played} others in the same session`;
          compare("STATE_KEPT", recorded, expected, await replay(session, start, actions), after);
          compare("STATE_KEPT", recorded, expected, await alone(subject, recorded), `after ${played} others`);
        });
      }),
  },
  {
    code: "STATE_SHARED",
    name: "an episode is the same beside others",
    run: async (subject) => {
      const all: RecordedEpisode[] = [];
      await forEachRecorded(subject, QUICK_MS, async (recorded) => void all.push(recorded));
      const deadline = performance.now() + QUICK_MS;
      for (const [index, recorded] of all.entries()) {
        if (index > 0 && performance.now() > deadline) return;
        const before = performance.now();
        await alone(subject, recorded);
        const count = performance.now() - before > SLOW_MS ? BESIDE_SLOW : BESIDE;
        const starts = await startsOf(subject, recorded.fixture.options, count);
        // Episodes of a group have one task and one seed, and different actions.
        const others = starts.map((start, i): RecordedEpisode => {
          const { actions } = all[(index + i) % all.length] as RecordedEpisode;
          return { ...recorded, actions, start: i % 2 === 0 ? start : recorded.start };
        });
        const episodes = [recorded, ...others];
        const playAlone = async (): Promise<(readonly string[])[]> => {
          const played: (readonly string[])[] = [];
          for (const each of episodes) played.push(await alone(subject, each));
          return played;
        };
        const expected = await playAlone();
        const beside = await allAtOnce(subject, episodes);
        const isSame = beside.every((lines, i) => describeDifference(expected[i] ?? [], lines) === undefined);
        if (isSame) continue;
        // A difference without episodes beside it is left over from earlier ones.
        compareAll("STATE_KEPT", recorded, expected, await playAlone(), `after ${episodes.length} others`);
        compareAll("STATE_SHARED", recorded, expected, beside, `beside ${others.length} others`);
      }
    },
  },
  {
    code: "TASK_IGNORED",
    name: "another task or seed changes an episode",
    run: async (subject) => {
      const fixtures = subject.fixtures.toSorted((one) => (one.kind === "gold" ? -1 : 1)).slice(0, RECORDED);
      const seen: { readonly fixture: Fixture; readonly count: number; readonly ofTasks: boolean }[] = [];
      for (const fixture of fixtures) {
        const { start, actions } = await recordFixture(subject, fixture);
        const starts = await variationsOf(subject, fixture.options, start);
        if (starts.length < 2) return;
        const expected = await withSession(subject, fixture.options, (session) =>
          replay(session, starts[0] ?? {}, actions),
        );
        for (const other of starts.slice(1)) {
          const lines = await withSession(subject, fixture.options, (session) => replay(session, other, actions));
          if (describeDifference(expected, lines) !== undefined) return;
        }
        seen.push({ fixture, count: starts.length, ofTasks: starts[0]?.task !== undefined });
      }
      const [first] = seen;
      if (first === undefined) return;
      throw new Defect(
        first.ofTasks ? "TASK_IGNORED" : "SEED_IGNORED",
        `The actions of fixture "${first.fixture.name}" give the same episode with ${first.count} ${first.ofTasks ? "tasks" : "seeds"}${seen.length > 1 ? `, and so do those of ${seen.length - 1} other fixtures` : ""}.`,
      );
    },
  },
];

/** Records fixtures under whose options the environment claims full determinism, and uses each. After `withinMs` it begins no other. */
async function forEachRecorded(
  subject: Subject,
  withinMs: number,
  use: (recorded: RecordedEpisode) => Promise<void>,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  let count = 0;
  for (const fixture of variedFixtures(subject.fixtures)) {
    if (count === RECORDED || performance.now() > deadline) return;
    if ((await subject.describe(fixture.options)).determinism !== "full") continue;
    await use(await recordFixture(subject, fixture));
    count++;
  }
}

/** Plays a recorded episode in a session of its own. */
function alone(subject: Subject, { fixture, start, actions }: RecordedEpisode): Promise<readonly string[]> {
  return withSession(subject, fixture.options, (session) => replay(session, start, actions));
}

/** Plays episodes, each in a session of its own, all turn by turn. */
async function allAtOnce(subject: Subject, recorded: readonly RecordedEpisode[]): Promise<(readonly string[])[]> {
  const sessions = await Promise.all(recorded.map(({ fixture }) => subject.host.open(subject.ref(fixture.options))));
  try {
    const episodes = sessions.map((session, i) => new Replay(session, recorded[i]?.actions ?? []));
    await Promise.all(episodes.map((episode, i) => episode.reset(recorded[i]?.start ?? {})));
    let playing = episodes;
    while (playing.length > 0) {
      const goes = await Promise.all(playing.map((episode) => episode.step()));
      playing = playing.filter((_, i) => goes[i]);
    }
    return episodes.map(({ lines }) => lines);
  } finally {
    await Promise.all(sessions.map((session) => session.close()));
  }
}

/** Returns starts of other episodes: each with another seed, and with another training task if there are tasks. */
async function startsOf(subject: Subject, options: JsonObject | undefined, count: number): Promise<EpisodeStart[]> {
  const size = (await subject.tasks(options))?.splits["train"] ?? 0;
  const { determinism } = await subject.describe(options);
  return Array.from({ length: count }, (_, i) => ({
    ...(determinism !== "none" && { seed: 1_000 + i }),
    ...(size > 0 && { task: `train/${(i * 7 + 1) % size}` }),
  }));
}

/** Returns starts that differ in their task, or in their seed if the environment has no tasks. */
async function variationsOf(
  subject: Subject,
  options: JsonObject | undefined,
  { seed, task }: EpisodeStart,
): Promise<EpisodeStart[]> {
  const splits = Object.entries((await subject.tasks(options))?.splits ?? {});
  const tasks = splits.flatMap(([split, size]) =>
    Array.from({ length: Math.min(size, VARIED) }, (_, i) => `${split}/${i}`),
  );
  if (task !== undefined || tasks.length > 0) return tasks.map((each) => ({ ...defined({ seed }), task: each }));
  return seed === undefined ? [] : Array.from({ length: VARIED }, (_, i) => ({ seed: seed + i }));
}

/** Whether a line of a transcript is an error, or has a reward that could not be computed. */
function hasFailed(line: string): boolean {
  return !line.startsWith("{") || line.includes('"scored":false');
}

/** Throws for two transcripts that differ. `reads` are inputs that the author's code read meanwhile. */
function compare(
  code: "EPISODE_NOT_REPEATED" | "STATE_KEPT" | "STATE_SHARED",
  { fixture }: RecordedEpisode,
  expected: readonly string[],
  actual: readonly string[],
  when: string,
  reads: readonly InputRead[] = [],
): void {
  const difference = describeDifference(expected, actual);
  if (difference === undefined) return;
  const [first] = reads;
  const read = first === undefined ? "" : ` Its code reads ${reads.map(({ name }) => name).join(", ")}.`;
  throw new Defect(code, `The actions of fixture "${fixture.name}" were played ${when}, and ${difference}.${read}`, {
    about: fixture.name,
    cause: first?.error,
  });
}

function compareAll(
  code: "STATE_KEPT" | "STATE_SHARED",
  recorded: RecordedEpisode,
  expected: readonly (readonly string[])[],
  actual: readonly (readonly string[])[],
  when: string,
): void {
  expected.forEach((lines, i) => compare(code, recorded, lines, actual[i] ?? [], when));
}
