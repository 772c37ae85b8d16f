import { type Action, type JsonObject, type Message, roleOf } from "@mrlm/spec";
import type { EnvironmentSession } from "@mrlm/spec/host";
import { textMessage } from "@mrlm/kit";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { serialise } from "../contract/serialise.ts";
import { never, playEpisode, playFixture, withSession } from "../contract/play.ts";
import { describeDifference, variedFixtures } from "../contract/recorded-episode.ts";
import { ReturnedValues } from "../contract/returned-values.ts";
import type { Subject } from "../contract/subject.ts";

/** Number of tasks of each split that are inspected, and of those that are demonstrated. */
const TASKS = 20;
const DEMONSTRATED = 3;
/** Number of gold fixtures whose ends are inspected. */
const GOLD = 4;
/** Time after which no other fixture is played, in milliseconds. */
const FIXTURES_MS = 1_000;
const LONG = "All work and no play. ".repeat(3_000);

/** Messages that a policy can send at any time, by their name. */
const MESSAGES: Readonly<Record<string, Message>> = {
  "empty texts": textMessage("assistant", ""),
  "messages without parts": { role: "assistant", parts: [] },
  "64 KB of text": textMessage("assistant", LONG),
  "characters of every kind": textMessage("assistant", "\0\u0007\u202E\u{1F9EA}e\u0301\u2028</s><|im_end|>"),
  "thoughts alone": { role: "assistant", parts: [{ type: "thinking", text: "What is asked?" }] },
  "calls of an unknown tool": {
    role: "assistant",
    parts: [{ type: "tool-call", id: "1", name: "no_such_tool", arguments: { depth: [1, null, {}] } }],
  },
  "malformed calls": {
    role: "assistant",
    parts: [{ type: "malformed-call", text: "<tool_call>{", format: "hermes", error: "It is no JSON.", offset: 12 }],
  },
};

/** Checks of data: JSON everywhere, sizes, ends of episodes. */
export const dataChecks: readonly EnvironmentCheck[] = [
  {
    code: "VALUE_NOT_JSON",
    name: "returns JSON that stays as it was",
    run: async (subject) => {
      const returned = new ReturnedValues();
      const changed: Defect[] = [];
      subject.watched.listen(returned.listener);
      const deadline = performance.now() + FIXTURES_MS;
      // Other checks report why an episode cannot be played.
      for (const fixture of variedFixtures(subject.fixtures)) {
        if (performance.now() > deadline) break;
        await withUnchanged(subject, fixture.options, changed, (session) =>
          playFixture(subject, fixture, session),
        ).catch(() => undefined);
      }
      for (const message of Object.values(MESSAGES))
        await withUnchanged(subject, undefined, changed, (session) => playMessage(session, message, "")).catch(
          () => undefined,
        );
      await readTasks(subject).catch(() => undefined);
      await readDemonstrations(subject).catch(() => undefined);
      subject.watched.listen(() => undefined);
      return [...returned.defects, ...changed.slice(0, 1)];
    },
  },
  {
    code: "GOLD_TRUNCATED",
    name: "gold fixtures end by the rules of their task",
    run: async (subject) => {
      for (const fixture of variedFixtures(subject.fixtures.filter(({ kind }) => kind === "gold")).slice(0, GOLD)) {
        const { steps, acted } = await withSession(subject, fixture.options, (session) =>
          playFixture(subject, fixture, session),
        );
        const cut = acted.find(
          (agent) =>
            fixture.players?.[roleOf(agent)] === undefined &&
            steps.some(({ truncated }) => truncated[agent] === true) &&
            !steps.some(({ terminated }) => terminated[agent] === true),
        );
        if (cut === undefined) continue;
        const message = `Agent "${cut}" is truncated after ${steps.length} turns of gold fixture "${fixture.name}", and not terminated.`;
        throw new Defect("GOLD_TRUNCATED", message, { about: fixture.name });
      }
    },
  },
  {
    code: "EPISODE_FAILED",
    name: "ends whatever a policy sends",
    timeoutMs: 120_000,
    run: async (subject) => {
      for (const [name, message] of Object.entries(MESSAGES))
        await withSession(subject, undefined, (session) => playMessage(session, message, name));
    },
  },
];

/** Plays an episode in which every agent sends the same message at each turn. */
async function playMessage(session: EnvironmentSession, message: Message, name: string): Promise<void> {
  const action = ({ agent }: { readonly agent: string }): Action => ({ agent, message, finishReason: "stop" });
  const first = await session.reset({ signal: never });
  await playEpisode(session, first, async (observation) => action(observation), `${name} from each agent`);
}

/** Uses a session, and adds a defect for a value that changed after it was returned. */
async function withUnchanged(
  subject: Subject,
  options: JsonObject | undefined,
  changed: Defect[],
  use: (session: EnvironmentSession) => Promise<unknown>,
): Promise<void> {
  const values: { readonly call: string; readonly value: unknown; readonly text: string }[] = [];
  const keep = <T>(call: string, value: T): T => {
    values.push({ call, value, text: serialise(value) });
    return value;
  };
  await withSession(subject, options, (session) =>
    use({
      description: session.description,
      reset: async (given) => keep("reset", await session.reset(given)),
      step: async (action, given) => keep("step", await session.step(action, given)),
      close: () => session.close(),
    }),
  );
  for (const { call, value, text } of values) {
    const difference = describeDifference([text], [serialise(value)]);
    if (difference === undefined) continue;
    const message = `After the episode, ${difference.replace("the first observation", `a value that ${call} had returned`)}.`;
    changed.push(new Defect("VALUE_CHANGED", message));
    return;
  }
}

/** Reads demonstrations of the first training tasks. The listener inspects them. */
async function readDemonstrations(subject: Subject): Promise<void> {
  const size = (await subject.tasks())?.splits["train"] ?? 0;
  if (subject.definition.demonstrate === undefined || size === 0) return;
  const tasks = Array.from({ length: Math.min(size, DEMONSTRATED) }, (_, index) => `train/${index}`);
  await subject.host.demonstrate(subject.ref(), tasks);
}

/** Reads the first tasks of each split. The listener inspects them. */
async function readTasks(subject: Subject): Promise<void> {
  const tasks = await subject.tasks();
  for (const [split, size] of Object.entries(tasks?.splits ?? {}))
    for (let index = 0; index < Math.min(size, TASKS); index++) await tasks?.get(split, index);
}
