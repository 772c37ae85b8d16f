import type { Fixture } from "@mrlm/kit";
import { ruleOf } from "./rules.ts";

/** Returns a text of the stated form, without much sense. */
function example(topic: string, rules: readonly string[]): string {
  const values = new Map(rules.map((rule) => [rule.split("/")[0], ruleOf(rule).value]));
  const [start, end] = [values.get("start"), values.get("end")];
  const around = [start, end].filter((word) => word !== undefined).length;
  const count = Number(values.get("words") ?? 7) - around;
  const body = ["the", topic, "was", "here", "for", "many", "long", "years"].slice(0, count);
  const first = [...(start === undefined ? [] : [start]), ...body].join(" ");
  const more = ["Some people disagree", "We like them"].slice(0, Number(values.get("sentences") ?? 1) - 1);
  const mark = values.has("question") ? "?" : ".";
  let text = `${[first, ...more].join(". ")}${end === undefined ? "" : ` ${end}`}${mark}`;
  if (values.has("list")) {
    const items = [`the ${topic}`, "some water", "our home", "many friends"].slice(0, Number(values.get("list")));
    text = items.map((item) => `- ${item}`).join("\n");
  }
  if (values.has("capitals")) text = text.toUpperCase();
  if (values.has("small")) text = text.toLowerCase();
  return values.has("quotes") ? `"${text}"` : text;
}

/** Episodes with a known outcome. */
export const fixtures: readonly Fixture<{ topic: string; rules: string[] }>[] = [
  {
    name: "a text of the form",
    kind: "gold",
    policy: ({ task }) => example(task.public.topic, task.public.rules),
    reward: 1,
  },
  { name: "nothing", kind: "nop", task: "train/1", policy: () => "", reward: 0 },
  { name: "the topic alone", kind: "cheat", task: "train/2", policy: ({ task }) => task.public.topic, reward: 0 },
  { name: "equal words", kind: "malformed", policy: ({ task }) => `${task.public.topic} `.repeat(6), reward: 0 },
  { name: "twice the same", kind: "determinism", seed: 5, policy: ({ turn }) => String(turn) },
];
