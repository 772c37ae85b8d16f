import {
  type Fixture,
  type FixturePolicy,
  type JsonObject,
  type Message,
  type Part,
  placeAnswer,
  roleOf,
} from "@mrlm/kit";
import { research } from "./scripted-policies.ts";
import { hiddenOf } from "./task.ts";

type Request = Parameters<FixturePolicy>[0];

const right = ({ task }: Request): string => placeAnswer(hiddenOf(task).answer, "answer");
const gold: FixturePolicy = ({ agent, messages }) => research(agent, messages);

function calling(...calls: readonly (readonly [name: string, given: JsonObject])[]): (request: Request) => Message {
  return ({ turn }) => ({
    role: "assistant",
    parts: calls.map(([name, given], i): Part => ({ type: "tool-call", id: `t${turn}c${i}`, name, arguments: given })),
  });
}

const malformed: Part = {
  type: "malformed-call",
  text: '<tool_call>{"name": "browse"</tool_call>',
  format: "hermes",
  error: "The object is not closed.",
  offset: 28,
};

const isMain = ({ role }: Request): boolean => role === "main";
/** Whether `main` has a result. */
const hasResult = ({ messages }: Request): boolean => messages.some(({ role }) => role === "tool");
const browse = calling(["browse", { goal: "anything" }]);

/** Plays `browser` in the first browser, and `main` answers rightly after it. */
const withBrowser =
  (browser: FixturePolicy): FixturePolicy =>
  (request) =>
    isMain(request) ? (hasResult(request) ? right(request) : browse(request)) : browser(request);

const TWO = { hops: 2 };
const TWO_BROWSERS = { main: 1, "browser#1": 0.1, "browser#2": 0.1 };

export const fixtures: readonly Fixture[] = [
  {
    name: "research over one page",
    kind: "gold",
    options: { hops: 1 },
    task: "train/0",
    policy: gold,
    reward: { main: 1, "browser#1": 0.1 },
  },
  { name: "research over two pages", kind: "gold", options: TWO, task: "train/1", policy: gold, reward: TWO_BROWSERS },
  {
    name: "research with the last results alone",
    kind: "gold",
    options: { hops: 3, context: "drop_results" },
    task: "eval/0",
    policy: gold,
    reward: { ...TWO_BROWSERS, "browser#3": 0.1 },
  },
  {
    name: "research with summaries",
    kind: "gold",
    options: { hops: 3, context: "summary" },
    task: "eval/1",
    policy: gold,
    reward: { ...TWO_BROWSERS, "browser#3": 0.1 },
  },
  {
    name: "browsers that share in the answer at the last step",
    kind: "gold",
    options: { ...TWO, rewards: { browser_answer: 0.5 }, style: "terse" },
    task: "train/2",
    policy: gold,
    reward: { main: 1, "browser#1": 0.6, "browser#2": 0.6 },
  },
  {
    name: "a browser that a script plays",
    kind: "gold",
    options: TWO,
    task: "train/3",
    players: { browser: { scripted: "researcher" } },
    policy: gold,
    reward: 1,
  },
  {
    name: "two browsers of one message, and one more than there may be",
    kind: "gold",
    options: { browsers: 2 },
    task: "train/4",
    policy: (request) =>
      !isMain(request)
        ? "<report>nothing</report>"
        : hasResult(request)
          ? right(request)
          : calling(["browse", { goal: "a" }], ["browse", { goal: "b" }], ["browse", { goal: "c" }])(request),
    reward: TWO_BROWSERS,
  },
  { name: "nothing", kind: "nop", task: "train/5", policy: () => "", reward: { main: 0 } },
  { name: "a guess", kind: "cheat", task: "train/6", policy: () => "<answer>1</answer>", reward: { main: 0 } },
  {
    name: "every number in one answer",
    kind: "cheat",
    task: "train/7",
    policy: () => placeAnswer(Array.from({ length: 200 }, (_, i) => String(1850 + i)).join(" or "), "answer"),
    reward: { main: 0 },
  },
  {
    name: "the tools of browsers, called by main until its turns end",
    kind: "cheat",
    options: { main_turns: 3 },
    task: "train/8",
    policy: calling(["search", { query: "a" }]),
    reward: { main: 0 },
  },
  {
    name: "a report without an end of searches",
    kind: "cheat",
    options: { browser_turns: 2 },
    task: "train/9",
    policy: withBrowser(calling(["search", { query: "a" }])),
    reward: { main: 1, "browser#1": 0 },
  },
  {
    name: "the tool of main, called by a browser",
    kind: "cheat",
    task: "train/10",
    policy: withBrowser((request) => (hasResult(request) ? "<report>x</report>" : browse(request))),
    reward: { main: 1, "browser#1": 0 },
  },
  {
    name: "a page instead of a report",
    kind: "cheat",
    options: { report_characters: 20 },
    task: "train/11",
    policy: withBrowser(() => `<report>${"all that I read ".repeat(9)}</report>`),
    reward: { main: 1, "browser#1": 0 },
  },
  {
    name: "a report without its marks, and two reports",
    kind: "malformed",
    task: "train/12",
    policy: (request) =>
      !isMain(request)
        ? request.agent === "browser#1"
          ? "What I found is 5."
          : "<report>5</report> or <report>6</report>"
        : hasResult(request)
          ? right(request)
          : calling(["browse", { goal: "a" }], ["browse", { goal: "b" }])(request),
    reward: { main: 1, "browser#1": 0, "browser#2": 0 },
  },
  {
    name: "malformed calls, then a right answer",
    kind: "malformed",
    task: "train/13",
    policy: (request) =>
      hasResult(request) ? right(request) : { role: "assistant", parts: [malformed, ...browse(request).parts] },
    reward: { main: 1, "browser#1": 0 },
  },
  {
    name: "goals that are none",
    kind: "malformed",
    task: "train/14",
    policy: (request) =>
      hasResult(request)
        ? "no marks"
        : calling(["browse", {}], ["browse", { goal: " " }], ["browse", { goal: "a", url: "b" }])(request),
    reward: { main: 0 },
  },
  { name: "research twice", kind: "determinism", seed: 5, policy: gold },
  {
    name: "research with changing contexts twice",
    kind: "determinism",
    seed: 6,
    options: { context: "summary" },
    policy: (request) => (roleOf(request.agent) === "main" && request.turn > 9 ? "5" : gold(request)),
  },
];
