import { describe, expect, test } from "@jest/globals";
import {
  type Action,
  type AgentId,
  type JsonObject,
  type Message,
  messageText,
  type Observation,
  type Part,
  roleOf,
  type StepResult,
  textMessage,
  unscored,
} from "@mrlm/kit";
import { SUMMARY_REQUEST, textOf } from "../src/conversation.ts";
import { research } from "../src/index.ts";
import { scriptedPolicies } from "../src/scripted-policies.ts";
import { prepare, tagged } from "./support/environment.ts";

const { signal } = new AbortController();
type Played = { readonly observations: readonly Observation[]; readonly steps: readonly StepResult[] };

/** Plays a task; `act` returns the message of the agent on turn, or an action. */
async function play(
  act: (observation: Observation, turn: number) => Promise<Message | Action> | Message | Action,
  given: JsonObject = {},
  task = "train/0",
  scorer = tagged(),
): Promise<Played> {
  const { context, options } = await prepare(given, scorer);
  const environment = await research.create(context, options);
  let observation = await environment.reset({ task: task as "train/0", seed: 1, signal });
  const played = { observations: [observation], steps: [] as StepResult[] };
  while (observation.agent !== "") {
    const acted = await act(observation, played.steps.length);
    const action =
      "parts" in acted ? { agent: observation.agent, message: acted, finishReason: "stop" as const } : acted;
    const step = await environment.step(action, { signal });
    played.steps.push(step);
    played.observations.push((observation = step.observation));
  }
  return played;
}

/** Returns a player with one scripted policy for each agent. */
function scripted(name: keyof typeof scriptedPolicies) {
  const policies = new Map<AgentId, ReturnType<(typeof scriptedPolicies)["researcher"]>>();
  return async (observation: Observation): Promise<Action> => {
    const { agent } = observation;
    const { context } = await prepare();
    const policy = policies.get(agent) ?? scriptedPolicies[name](context, {}, policies.size);
    policies.set(agent, policy);
    return policy.act(observation, { signal });
  };
}

function totals({ steps }: Played): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [agent, reward] of steps.flatMap(({ rewards }) => Object.entries(rewards)))
    sums[agent] = (sums[agent] ?? 0) + (reward.scored ? reward.value : Number.NaN);
  return sums;
}

const browse = (...goals: string[]): Message => ({
  role: "assistant",
  parts: goals.map((goal, i): Part => ({ type: "tool-call", id: `c${i}`, name: "browse", arguments: { goal } })),
});
const respond = (text: string): Message => textMessage("assistant", text);

describe.each(["keep", "drop_results", "summary"])("context: %s", (context) => {
  test("the script researcher finds every answer, with one browser for each page", async () => {
    for (let task = 0; task < 12; task++) {
      const { tasks } = await prepare({ context });
      const { hops } = (await tasks.get("train", task)).public as { hops: number };
      const played = await play(scripted("researcher"), { context }, `train/${task}`);
      const browsers = Array.from({ length: hops }, (_, i) => [`browser#${i + 1}`, 0.1]);
      expect(totals(played)).toEqual({ main: 1, ...Object.fromEntries(browsers) });
    }
  });
});

test("longer chains and the smallest corpus have answers", async () => {
  const options = { hops: [6, 6], pages: 8, browsers: 6, eval_size: 20 };
  for (let task = 0; task < 10; task++)
    expect(totals(await play(scripted("researcher"), options, `eval/${task}`))).toMatchObject({
      main: 1,
      "browser#6": 0.1,
    });
});

test("a guess without research earns nothing", async () => {
  const rewards = await Promise.all(
    Array.from({ length: 30 }, (_, task) => play(scripted("guesser"), {}, `train/${task}`).then(totals)),
  );
  expect(rewards.filter(({ main }) => main === 1).length).toBeLessThan(2);
});

test("browsers of one message work one after another, each with its goal alone, before main reads all reports in order", async () => {
  const { observations, steps } = await play((observation, turn) =>
    turn === 0 ? browse("first goal", "second goal") : respond(`<report>of ${observation.agent}</report>`),
  );
  expect(observations.map(({ agent }) => agent)).toEqual(["main", "browser#1", "browser#2", "main", ""]);
  const shown = observations.map(({ messages }) => messages.map(textOf).join("\n"));
  expect(shown[1]).toContain("Goal: first goal");
  expect(shown[2]).toContain("Goal: second goal");
  expect(shown[2]).not.toContain("first goal");
  expect(shown[3]).toBe("of browser#1\nof browser#2");
  expect(observations.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([
    ["browse"],
    ["search", "fetch"],
    ["search", "fetch"],
    undefined,
    undefined,
  ]);
  expect(steps.map(({ terminated }) => terminated)).toEqual([
    {},
    { "browser#1": true },
    { "browser#2": true },
    { main: true },
  ]);
});

describe("a conversation that starts over", () => {
  /** `main` starts three browsers, one after another. */
  const three = (context: string) =>
    play(
      ({ agent, messages }, turn) =>
        roleOf(agent) === "browser"
          ? respond(`<report>report ${agent.split("#")[1]}</report>`)
          : messages.some((message) => textOf(message) === SUMMARY_REQUEST)
            ? respond(`summary ${turn}`)
            : turn < (context === "summary" ? 9 : 5)
              ? browse(`goal ${turn}`)
              : respond("<answer>1</answer>"),
      { context },
    );
  const ofMain = ({ observations }: Played) =>
    observations
      .filter(({ agent }) => agent === "main")
      .map(({ messages, isFresh }) => [isFresh === true, messages.map(textOf).join("\n")] as const);

  test("with drop_results lists the calls, and shows the last results alone", async () => {
    const observed = ofMain(await three("drop_results"));
    expect(observed.map(([isFresh]) => isFresh)).toEqual([false, false, true, true]);
    const [first, , , fourth] = observed.map(([, text]) => text) as [string, string, string, string];
    expect(fourth).toContain(first);
    expect(fourth).toContain('1. browse {"goal":"goal 0"}\n2. browse {"goal":"goal 2"}\n3. browse {"goal":"goal 4"}');
    expect(fourth).toContain("Results:\nreport 3");
    expect(fourth).not.toContain("report 2");
  });

  test("with summary asks for one after each result, which takes no turn of main, and shows it alone", async () => {
    const observed = ofMain(await three("summary"));
    expect(observed.map(([isFresh]) => isFresh)).toEqual([false, false, true, false, true, false, true]);
    const texts = observed.map(([, text]) => text);
    expect(texts[3]).toBe(`report 2\n${SUMMARY_REQUEST}`);
    expect(texts[4]).toContain(texts[0]);
    expect(texts[4]).toContain("Your summary so far:\nsummary 5");
    expect(texts[4]).not.toMatch(/report \d|summary 2/);
  });
});

describe("ends", () => {
  test("of a browser: its turns or its context are used up, without a report", async () => {
    const search: Message = {
      role: "assistant",
      parts: [{ type: "tool-call", id: "s", name: "search", arguments: { query: "a" } }],
    };
    const late = await play(
      ({ agent }, turn) => (turn === 0 ? browse("a") : roleOf(agent) === "main" ? respond("x") : search),
      { browser_turns: 3 },
    );
    expect(late.steps.map(({ truncated }) => truncated)).toEqual([{}, {}, {}, { "browser#1": true }, {}]);
    expect(late.steps[3]?.rewards).toEqual({ "browser#1": { scored: true, value: 0, components: { format: 0 } } });
    expect(late.observations[4]?.messages.map(textOf)).toEqual(["The browser ended before its report."]);
    const full = await play(({ agent }, turn) =>
      turn === 0
        ? browse("a")
        : turn === 1
          ? { agent, message: { role: "assistant", parts: [] }, finishReason: "exhausted" }
          : respond("x"),
    );
    expect(full.steps[1]).toMatchObject({ truncated: { "browser#1": true }, observation: { agent: "main" } });
  });

  test("of main: its turns are used up by calls, and a call in the last turn starts no browser", async () => {
    const { observations, steps } = await play(
      ({ agent }) => (roleOf(agent) === "main" ? browse("a") : respond("<report>x</report>")),
      { main_turns: 2 },
    );
    expect(observations.map(({ agent }) => agent)).toEqual(["main", "browser#1", "main", ""]);
    expect(steps.at(-1)).toMatchObject({ truncated: { main: true }, rewards: { main: { value: 0 } } });
  });
});

test("an answer that cannot be scored leaves main unscored, and browsers where they share in it", async () => {
  const failed = tagged(unscored("SCORER_FAILED", "down"));
  const act = (_: Observation, turn: number) => (turn === 0 ? browse("a") : respond("<report>x</report>"));
  const alone = await play(act, {}, "train/0", failed);
  expect(alone.steps.at(-1)?.rewards).toEqual({ main: unscored("SCORER_FAILED", "down") });
  const shared = await play(act, { rewards: { browser_answer: 0.5 } }, "train/0", failed);
  expect(shared.steps.at(-1)?.rewards["browser#1"]).toMatchObject({ scored: false, code: "SCORER_FAILED" });
});

test("the question is all that a terse prompt has", async () => {
  const { observations } = await play((_, turn) => (turn === 0 ? browse("a goal") : respond("x")), { style: "terse" });
  expect(observations.slice(0, 2).map(({ messages }) => messages.map(messageText))).toEqual([
    [expect.stringMatching(/^What is the .*\?$/)],
    ["a goal"],
  ]);
});
