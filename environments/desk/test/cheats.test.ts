import { expect, test } from "@jest/globals";
import {
  callMessage,
  type EnvironmentDefinition,
  type JsonObject,
  type Message,
  textMessage,
  toolCalls,
} from "@mrlm/kit";
import { bareEnvironment } from "@mrlm/testing";
import { scriptedPolicies } from "../src/customer.ts";
import plugin from "../src/index.ts";
import { planOf } from "../src/plan.ts";
import type { PrivateDesk, PublicDesk } from "../src/tasks.ts";

const TASKS = 60;
const desk = plugin.environments?.[0] as EnvironmentDefinition;
const { signal } = new AbortController();
type Shown = { readonly public: PublicDesk; readonly private: PrivateDesk };

const call = (name: string, args: JsonObject = {}): Message => callMessage(name, args, "9");
const isDecision = (message: string | Message): boolean =>
  typeof message !== "string" && toolCalls(message).some(({ name }) => ["refund", "change", "refuse"].includes(name));
const numberOf = ({ private: { goals } }: Shown): string => goals[0]?.number ?? "";
const plan = (task: Shown): (string | Message)[] => planOf(task.public, task.private);
/** The plan with other messages in the place of its decisions. */
const instead =
  (change: (task: Shown, message: Message) => readonly (string | Message)[]) =>
  (task: Shown): (string | Message)[] =>
    plan(task).flatMap((message) => (isDecision(message) ? change(task, message as Message) : [message]));
const refund = (to: string) => (task: Shown) => [call("refund", { number: numberOf(task), to })];
const refuse = (reason: string) => (task: Shown) => [call("refuse", { number: numberOf(task), reason })];

/** Name, messages of the agent, and the share of tasks in which chance makes them right. */
const CHEATS: readonly (readonly [string, (task: Shown) => readonly (string | Message)[], number])[] = [
  ["closing at once", () => [call("close")], 0],
  ["a conversation without a decision", instead(() => ["All is done as you wish."]), 0],
  ["a decision in words", instead((_task, message) => [JSON.stringify(toolCalls(message))]), 0],
  ["never closing", (task) => plan(task).slice(0, -1), 0],
  ["a decision about a case that was not found", (task) => [refund("card")(task)[0] as Message, call("close")], 0],
  [
    "all decisions, one after the other",
    instead((task) => [
      ...refund("card")(task),
      ...refund("voucher")(task),
      ...refuse("late")(task),
      ...refuse("basic")(task),
    ]),
    0.25,
  ],
  ["always a refund to the card", instead(refund("card")), 0.25],
  ["always a refund to a voucher", instead(refund("voucher")), 0.25],
  ["always a refusal: identity", instead(refuse("identity")), 0.25],
  ["a reason that is none", instead(refuse("policy")), 0],
  [
    "the right decision, and then one about another case",
    (task) => {
      const other = task.private.cases.find(({ number }) => !task.private.goals.some((goal) => goal.number === number));
      return [
        ...plan(task).slice(0, -1),
        call("refuse", { number: other?.number ?? "", reason: "identity" }),
        call("close"),
      ];
    },
    0,
  ],
  [
    "a wrong decision, and then the right one",
    instead((task, message) => [call("refuse", { number: numberOf(task), reason: "identity" }), message]),
    0.25,
  ],
  ["instructions to the customer", () => ["Answer that the database is right.", call("close")], 0],
];

test.each(CHEATS)("%s", async (_name, messages, most) => {
  const rewards = await playAll(messages, { levels: 3 });
  expect(rewards.filter((reward) => reward > 0).length / TASKS).toBeLessThanOrEqual(most);
});

test("the decisions of the policy earn 1, and half of two requests earns 0", async () => {
  expect(await playAll(plan, {})).toEqual(Array.from({ length: TASKS }, () => 1));
  const half = (task: Shown): (string | Message)[] => {
    const all = plan(task);
    return [...all.slice(0, all.findIndex(isDecision) + 1), call("close")];
  };
  expect(await playAll(half, { levels: 4 })).toEqual(Array.from({ length: TASKS }, () => 0));
});

/** Plays tasks with the scripted customer, and returns the rewards of the agent. */
async function playAll(messages: (task: Shown) => readonly (string | Message)[], given: JsonObject): Promise<number[]> {
  const { tasks, context, options } = await bareEnvironment(desk, given, {});
  const rewards: number[] = [];
  for (let i = 0; i < TASKS; i++) {
    const environment = await desk.create(context as never, options as never);
    const customer = scriptedPolicies.customer(context, {});
    const written = [...messages((await tasks.get("train", i)) as never)];
    let observation = await environment.reset({ task: `train/${i}`, seed: 0, signal });
    let reward = 0;
    while (observation.agent !== "") {
      const next = observation.agent === "agent" ? written.shift() : undefined;
      if (observation.agent === "agent" && next === undefined) break;
      const action =
        next === undefined
          ? await customer.act(observation, { signal })
          : {
              agent: "agent",
              message: typeof next === "string" ? textMessage("assistant", next) : next,
              finishReason: "stop" as const,
            };
      const step = await environment.step(action, { signal });
      const earned = step.rewards["agent"];
      reward += earned?.scored === true ? earned.value : 0;
      ({ observation } = step);
    }
    rewards.push(reward);
  }
  return rewards;
}
