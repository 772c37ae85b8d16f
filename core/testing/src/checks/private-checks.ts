import { type Fixture, type Message, type Observation, type Task, type TaskId } from "@mrlm/spec";
import { textMessage } from "@mrlm/kit";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { leavesOf } from "../contract/leaves.ts";
import { never, playFixture, withSession } from "../contract/play.ts";
import { goldFixture } from "../contract/probe-episode.ts";
import { recordFixture } from "../contract/recorded-episode.ts";
import type { Subject } from "../contract/subject.ts";
import { AS_IT_IS, HIDING_FORMS, type TextForm } from "../contract/text-forms.ts";

/** Number of tasks that are searched: fewer than the least show texts by chance. Time for them in milliseconds. */
const TASKS = 24;
const LEAST_TASKS = 8;
const SEARCHED_MS = 1_500;
/** Number of tasks that a text answers. */
const ANSWERED = 8;
const ANSWERED_MS = 1_500;
/** Shorter texts stand in others by chance. */
const LEAST_LENGTH = 3;
const MOST_PATHS = 300;
/** Share of the tasks that show their text, or that differ without it. */
const MOST = 0.9;
const DISTINCT = 0.8;
/** Share of the tasks that may have an equal text, and that may show the text of another task. */
const COMMON = 0.8;
const CHANCE = 0.1;
/** Number of characters before a text that stand there in each task. */
const BEFORE = 6;

/** Task, and what a client receives of it before the first action. */
interface ShownTask {
  readonly id: TaskId;
  /** Private texts by path. */
  readonly hidden: ReadonlyMap<string, string>;
  /** Visible texts by path. */
  readonly shown: ReadonlyMap<string, string>;
  readonly messages: string;
}

/** Private text that can be read before the first action in most tasks. */
interface Shown {
  readonly path: string;
  readonly place: string;
  readonly form: TextForm;
  readonly tasks: readonly ShownTask[];
}

/** Check that nothing private can be read before the first action. After it, an observation can reveal a part of a world. */
export const privateChecks: readonly EnvironmentCheck[] = [
  {
    code: "TASK_PRIVATE_SHOWN",
    name: "private texts cannot be read before the first action",
    run: async (subject) => {
      const gold = goldFixture(subject);
      const tasks = await shownTasks(subject);
      if (tasks.length < LEAST_TASKS) return;
      const deadline = performance.now() + ANSWERED_MS;
      for (const shown of findShown(tasks)) {
        if (shown.form === AS_IT_IS && !(await isAnswer(subject, gold, shown, deadline))) continue;
        const { path, place, form } = shown;
        const [{ id, hidden }] = shown.tasks as [ShownTask];
        throw new Defect(
          "TASK_PRIVATE_SHOWN",
          `\`private.${path}\` of ${shown.tasks.length} of ${tasks.length} tasks can be read in \`${place}\` before the first action, ${form.name}: "${hidden.get(path)?.slice(0, 80)}" of ${id}.`,
          { about: path.split(/[.[]/).at(0) ?? path },
        );
      }
    },
  },
];

async function shownTasks(subject: Subject): Promise<ShownTask[]> {
  const source = await subject.tasks();
  const [split = "", size = 0] = Object.entries(source?.splits ?? {}).find(([, count]) => count > 0) ?? [];
  const tasks: ShownTask[] = [];
  const deadline = performance.now() + SEARCHED_MS;
  await withSession(subject, undefined, async (session) => {
    for (let index = 0; index < Math.min(size, TASKS) && performance.now() < deadline; index++) {
      const task = await subject.task(`${split}/${index}`);
      // Another check reports why an episode does not start.
      const first = await session.reset({ task: task.id, signal: never }).catch(() => undefined);
      if (first !== undefined) tasks.push(shownTask(task, first));
    }
  });
  return tasks;
}

function shownTask(task: Task, { messages, tools, info }: Observation): ShownTask {
  const hidden = [...leavesOf(task.private)].filter(([path, text]) => path !== "canary" && text.length >= LEAST_LENGTH);
  const shown = new Map([...leavesOf({ messages, tools, info }), ...leavesOf(task.public, "public")]);
  const texts = [...leavesOf(messages).values()].join("\n");
  return { id: task.id, hidden: new Map(hidden.slice(0, MOST_PATHS)), shown, messages: texts };
}

/** Yields private texts that stand at one place in most tasks. */
function* findShown(tasks: readonly ShownTask[]): Generator<Shown> {
  for (const path of new Set(tasks.flatMap(({ hidden }) => [...hidden.keys()]))) {
    const having = tasks.filter(({ hidden }) => hidden.has(path));
    const texts = having.map(({ hidden }) => hidden.get(path) as string);
    // A text of most tasks distinguishes none.
    if (having.length < MOST * tasks.length || mostCommon(texts) > COMMON * texts.length) continue;
    for (const place of new Set(having.flatMap(({ shown }) => [...shown.keys()])))
      for (const form of [AS_IT_IS, ...HIDING_FORMS]) {
        const views = having.map(({ shown }) => form.read(shown.get(place) ?? ""));
        const found = having.filter((_, i) => views[i]?.includes(texts[i] as string));
        if (found.length < MOST * tasks.length) continue;
        const isFixed = form === AS_IT_IS ? standsAtOnePlace(views, texts) : !isByChance(views, texts);
        if (isFixed && !isQuestion(having, texts, form)) yield { path, place, form, tasks: found };
      }
  }
}

function mostCommon(texts: readonly string[]): number {
  return Math.max(0, ...Object.values(Object.groupBy(texts, (text) => text)).map((equal) => equal?.length ?? 0));
}

/** Whether one rule finds the texts in most views: each is the whole view, or follows the first occurrence of the same characters. */
function standsAtOnePlace(views: readonly string[], texts: readonly string[]): boolean {
  const befores = views.flatMap((view, i) => {
    const at = view.indexOf(texts[i] as string);
    const before = view.slice(Math.max(0, at - BEFORE), at);
    return at < 0 || view.indexOf(before) !== at - before.length ? [] : [before];
  });
  return mostCommon(befores) >= MOST * texts.length;
}

/** Whether views have the texts of other tasks too. */
function isByChance(views: readonly string[], texts: readonly string[]): boolean {
  let [others, found] = [0, 0];
  for (const [i, view] of views.entries())
    for (const [j, text] of texts.entries())
      if (i !== j && text !== texts[i]) {
        others++;
        found += Number(view.includes(text));
      }
  return found > CHANCE * others;
}

/** Whether the shown text is the question itself, such as a word to write backwards: without it the messages of all tasks are alike. */
function isQuestion(tasks: readonly ShownTask[], texts: readonly string[], form: TextForm): boolean {
  const rest = new Set(tasks.map(({ messages }, i) => form.without(messages, texts[i] as string)));
  return rest.size < DISTINCT * tasks.length;
}

/** Whether the shown text is what earns: in the place of the gold answer it earns at least half of what that earns. An exit of a room earns nothing. */
async function isAnswer(
  subject: Subject,
  gold: Fixture | undefined,
  { path, tasks }: Shown,
  deadline: number,
): Promise<boolean> {
  if (gold === undefined) return false;
  const half = (rewardOf(gold) + rewardOf(subject.fixtures.find(({ kind }) => kind === "nop"))) / 2;
  const answer = await answerWith(subject, gold, path);
  let [played, earned] = [0, 0];
  for (const { id, hidden } of tasks.slice(0, ANSWERED)) {
    if (played > 0 && performance.now() > deadline) break;
    const fixture: Fixture = { ...gold, task: id, policy: () => answer(hidden.get(path) as string) };
    const totals = await withSession(subject, gold.options, (session) => playFixture(subject, fixture, session)).then(
      ({ totals: all }) => all,
      () => ({}),
    );
    played++;
    earned += Number(Math.max(...Object.values<number>(totals)) >= half);
  }
  return earned >= (MOST - 1 / ANSWERED) * played;
}

function rewardOf(fixture: Fixture | undefined): number {
  const { reward = 0 } = fixture ?? {};
  return typeof reward === "number" ? reward : Math.max(...Object.values(reward));
}

/** Returns the last action of the gold fixture with another text where its task's private one stands; the text itself where it does not. */
async function answerWith(subject: Subject, gold: Fixture, path: string): Promise<(text: string) => Message> {
  const { actions, start } = await recordFixture(subject, gold);
  const own = leavesOf((await subject.task(start.task ?? "", gold.options)).private).get(path);
  const message = JSON.stringify(actions.at(-1)?.message);
  const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);
  if (own === undefined || own === "" || !message.includes(quoted(own)))
    return (text) => textMessage("assistant", text);
  return (text) => JSON.parse(message.replaceAll(quoted(own), () => quoted(text))) as Message;
}
