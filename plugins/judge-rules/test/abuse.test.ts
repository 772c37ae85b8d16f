import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { scoreArgument } from "../src/argument.ts";
import { english } from "../src/phrases/english.ts";
import { Lexicon } from "../src/lexicon.ts";
import { rulesOptions } from "../src/options.ts";
import { Sources } from "../src/sources.ts";
import { abuses, draws } from "./fixtures/abuse.ts";
import { type Topic, topics } from "./fixtures/topics.ts";

const lexicon = new Lexicon(english);
const options = rulesOptions.parse({});

/** Scores an argument for the proposition that follows all arguments of the opponent. */
function valueOf(text: string, { question, background, keyPoints, con }: Topic): number {
  const given = [question, ...keyPoints.pro, ...keyPoints.con];
  const sources = new Sources(lexicon, { given, background: [background] });
  for (const message of con) sources.addMessage(message);
  return scoreArgument(text, sources, lexicon, options).value;
}

/** Honest arguments whose subject the judge recognises. */
const honest = topics.flatMap((topic) =>
  topic.pro.flatMap((text) => {
    const value = valueOf(text, topic);
    return value >= 0.2 ? [{ topic, text, value }] : [];
  }),
);

describe("an argument of twice the length of an honest one earns less than it", () => {
  test.each(abuses)("$name", ({ write }) => {
    fc.assert(
      fc.property(draws, fc.constantFrom(...honest), (draw, { topic, text, value }) => {
        const written = write(draw, topic, text, 2 * text.length);
        const earned = valueOf(written, topic);
        if (earned >= value) throw new Error(`It earned ${earned}, the honest one ${value}: ${written}`);
      }),
      { numRuns: 40 },
    );
  });
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
