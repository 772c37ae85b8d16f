import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { abuses } from "./fixtures/abuse.ts";
import { type Topic, topics } from "./fixtures/topics.ts";
import { assertEarnsLess, honest, valueOf } from "./support/earns-less.ts";

describe("an argument of twice the length of an honest one earns less than it", () => {
  test.each(abuses)("$name", (abuse) => assertEarnsLess(abuse, 40));
});

test("most honest arguments are recognised", () => {
  expect(honest.length).toBeGreaterThanOrEqual(8);
  expect(honest.reduce((sum, { value }) => sum + value, 0) / honest.length).toBeGreaterThan(0.4);
});

const [helmets] = topics as [Topic];
const [, recovered] = helmets.pro as readonly [string, string];
/** Arguments for compulsory helmets, with the scores that the README lists. */
const measured = [
  ["an honest argument of 320 characters", recovered, 0.75],
  ["an honest argument of 92 characters", helmets.pro[0] as string, 0.2],
  [
    "keyword stuffing",
    "Because the research shows that helmets are good, therefore the data is evidence. According to studies, 90 percent of riders agree. As a result, statistics prove that helmets work. For example, a survey reports that cities benefit.",
    0,
  ],
  ["repetition: the honest argument of 92 characters four times", `${helmets.pro[0]} `.repeat(4), 0.05],
  ["copy of the opponent", helmets.con[1] as string, 0],
  [
    "copy of the proposition in other words",
    "I think that cities should make bicycle helmets compulsory for all riders. It is clear that bicycle helmets should be compulsory. All riders in cities should have compulsory bicycle helmets.",
    0,
  ],
  ["key points listed", helmets.keyPoints.pro.map((point) => `- ${point}`).join("\n"), 0],
  [
    "key points as key words",
    "Helmets, serious head injuries, falls, collisions, brain injuries, public hospitals, money, teenagers, normal.",
    0,
  ],
  [
    "padding: the honest argument of 92 characters and 136 empty ones",
    `${helmets.pro[0]} It is very important to note that this is a really important topic that everyone should think about very carefully, because it matters.`,
    0.1,
  ],
] as const;

test.each(measured)("measured: %s", (name, text, earned) => {
  expect(valueOf(text, helmets)).toBeCloseTo(earned, 2);
  expect(readFileSync(join(import.meta.dirname, "../README.md"), "utf8")).toContain(
    `| ${name} | ${earned.toFixed(2)} |`,
  );
});
