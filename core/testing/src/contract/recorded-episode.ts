import { type Action, defined, type Fixture, MrlmError, type TaskId } from "@mrlm/spec";
import type { EnvironmentSession } from "@mrlm/spec/host";
import { serialise } from "./serialise.ts";
import { never, playFixture, seedOf, type Transcript, withoutDurations, withSession } from "./play.ts";
import type { Subject } from "./subject.ts";

export interface EpisodeStart {
  readonly seed?: number;
  readonly task?: TaskId;
}

/** Episode of a fixture that can be played again with the same actions. */
export interface RecordedEpisode {
  readonly fixture: Fixture;
  readonly start: EpisodeStart;
  readonly actions: readonly Action[];
  readonly transcript: Transcript;
}

/** Last episode of each fixture under the default options, so that its recorded behaviour needs no other. */
const played = new WeakMap<Fixture, RecordedEpisode>();

/** Returns the episode of a fixture that a check has played, else plays it. */
export async function playedFixture(subject: Subject, fixture: Fixture): Promise<RecordedEpisode> {
  return played.get(fixture) ?? recordFixture(subject, fixture);
}

/** Returns the fixtures in another order: the first of each kind, then of each options, then the others. */
export function variedFixtures(fixtures: readonly Fixture[]): Fixture[] {
  const firstBy = (keyOf: (fixture: Fixture) => string): Fixture[] => [
    ...new Map(fixtures.toReversed().map((fixture) => [keyOf(fixture), fixture])).values(),
  ];
  const first = [...firstBy(({ kind }) => kind).toReversed(), ...firstBy(({ options }) => serialise(options ?? {}))];
  return [...new Set([...first, ...fixtures])];
}

/** Plays a fixture and records its actions. */
export async function recordFixture(subject: Subject, fixture: Fixture): Promise<RecordedEpisode> {
  const seed = await seedOf(subject, fixture);
  const actions: Action[] = [];
  const transcript = await withSession(subject, fixture.options, (session) =>
    playFixture(subject, fixture, session, (action) => {
      actions.push(action);
      return action;
    }),
  );
  const { task = subject.watched.lastReset()?.task } = fixture;
  const recorded = { fixture, start: { ...defined({ seed, task }) }, actions, transcript };
  if (subject.ref().options === undefined) played.set(fixture, recorded);
  return recorded;
}

/** Episode that is played turn by turn with recorded actions. An error of the environment is its last line. */
export class Replay {
  /** Observation and results, as JSON with sorted keys. */
  readonly lines: string[] = [];
  readonly #session: EnvironmentSession;
  readonly #actions: readonly Action[];
  #onTurn = "";

  constructor(session: EnvironmentSession, actions: readonly Action[]) {
    this.#session = session;
    this.#actions = actions;
  }

  async reset(start: EpisodeStart): Promise<void> {
    await this.#add(async () => {
      const observation = await this.#session.reset({ ...start, signal: never });
      return { value: observation, next: observation.agent };
    });
  }

  /** Takes the next turn. Returns false at the end of the episode, of the actions, or where another agent is on turn than in the recorded episode. */
  async step(): Promise<boolean> {
    const action = this.#actions[this.lines.length - 1];
    if (action === undefined || action.agent !== this.#onTurn) return false;
    await this.#add(async () => {
      const result = withoutDurations(await this.#session.step(action, { signal: never }));
      return { value: result, next: result.observation.agent };
    });
    return true;
  }

  async #add(call: () => Promise<{ readonly value: unknown; readonly next: string }>): Promise<void> {
    try {
      const { value, next } = await call();
      this.lines.push(serialise(value));
      this.#onTurn = next;
    } catch (error) {
      if (!MrlmError.isInstance(error)) throw error;
      this.lines.push(`${error.code}: ${error.message}`);
      this.#onTurn = "";
    }
  }
}

/** Plays the recorded actions from a start. Returns the observation and the results. */
export async function replay(
  session: EnvironmentSession,
  start: EpisodeStart,
  actions: readonly Action[],
): Promise<readonly string[]> {
  const played = new Replay(session, actions);
  await played.reset(start);
  while (await played.step());
  return played.lines;
}

/** Number of characters of both texts that a difference shows before and after the first different one. */
const SHOWN = 40;

/** Describes the first difference of two transcripts; `undefined` if they are equal. */
export function describeDifference(expected: readonly string[], actual: readonly string[]): string | undefined {
  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    const [one = "the end", other = "the end"] = [expected[index], actual[index]];
    if (one === other) continue;
    const first = Array.from({ length: one.length }, (_, i) => i).find((i) => one[i] !== other[i]) ?? one.length;
    const from = Math.max(0, first - SHOWN);
    const show = (text: string): string => text.slice(from, from + 2 * SHOWN);
    const place = index === 0 ? "the first observation" : `the result of turn ${index}`;
    return `${place} has \`${show(other)}\` instead of \`${show(one)}\``;
  }
  return undefined;
}
