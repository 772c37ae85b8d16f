import fc from "fast-check";
import { scoreArgument } from "../../src/argument.ts";
import { Lexicon } from "../../src/lexicon.ts";
import { rulesOptions } from "../../src/options.ts";
import { english } from "../../src/phrases/english.ts";
import { Sources } from "../../src/sources.ts";
import { type Abuse, draws } from "../fixtures/abuse.ts";
import { type Topic, topics } from "../fixtures/topics.ts";

const lexicon = new Lexicon(english);
const options = rulesOptions.parse({});

/** Scores an argument for the proposition that follows all arguments of the opponent. */
export function valueOf(text: string, { question, background, keyPoints, con }: Topic): number {
  const task = [question, background, ...keyPoints.pro, ...keyPoints.con];
  const sources = new Sources(lexicon, task);
  for (const message of con) sources.addMessage(message);
  return scoreArgument(text, sources, lexicon, options).value;
}

/** Honest arguments whose subject the judge recognises. */
export const honest = topics.flatMap((topic) =>
  topic.pro.flatMap((text) => {
    const value = valueOf(text, topic);
    return value >= 0.2 ? [{ topic, text, value }] : [];
  }),
);

/** Asserts that texts of twice the length of an honest argument earn less than it. */
export function assertEarnsLess({ write }: Abuse, numRuns: number): void {
  fc.assert(
    fc.property(draws, fc.constantFrom(...honest), (draw, { topic, text, value }) => {
      const written = write(draw, topic, text, 2 * text.length);
      const earned = valueOf(written, topic);
      if (earned >= value) throw new Error(`It earned ${earned}, the honest one ${value}: ${written}`);
    }),
    { numRuns },
  );
}
