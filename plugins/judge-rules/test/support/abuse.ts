import fc from "fast-check";
import { english } from "../../src/english.ts";
import type { Topic } from "./topics.ts";

/** Way to write an argument without having one. */
export interface Abuse {
  readonly name: string;
  /** Returns a text of about `length` characters in place of an honest argument. */
  write(draw: Draw, topic: Topic, honest: string, length: number): string;
}

/** Draws from lists. */
export interface Draw {
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
}

/** Arbitrary stream of draws. */
export const draws: fc.Arbitrary<Draw> = fc
  .array(fc.nat({ max: 0xffff }), { minLength: 64, maxLength: 64 })
  .map((numbers) => {
    let at = 0;
    const below = (limit: number): number => {
      const number = (numbers[at % numbers.length] as number) + 7919 * at * (Math.floor(at / numbers.length) + 1);
      at++;
      return number % limit;
    };
    return {
      below,
      pick: (items) => items[below(items.length)] as (typeof items)[number],
      shuffle: (items) =>
        items
          .map((item) => [below(1 << 16), item] as const)
          .sort(([one], [other]) => one - other)
          .map(([, item]) => item),
    };
  });

const words = (text: string): string[] => text.match(/[\p{L}'-]+/gu) ?? [];
const sentences = (text: string): string[] => text.split(/(?<=[.!?])\s+/);
const markers = [...english.evidence, ...english.reasoning, ...english.structure];
const function_ = ["the", "of", "is", "to", "and", "in", "that", "for", "with", "on", "a", "are"];

function until(length: number, next: () => string, joint = " "): string {
  let text = "";
  while (text.length < length) text += (text === "" ? "" : joint) + next();
  return text;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Text with some words replaced, by random ones of a list. */
function edited(text: string, draw: Draw, percent: number, by: readonly string[]): string {
  return text.replace(/[\p{L}'-]+/gu, (word) => (draw.below(100) < percent ? draw.pick(by) : word));
}

const empty = [
  "It is very important to note that this is a really important topic that everyone should think about very carefully.",
  "As we all know, there are many different opinions about this matter in the world of today, and all of them deserve to be heard.",
  "There can be no doubt whatsoever that what I have just said is true, and that it will always be true.",
  "This is a question that many people have discussed for a very long time, and they will go on to discuss it.",
  "I would like to say once more that my position in this debate is the right one, and I stand by it completely.",
  "When everything is said and done, at the end of the day, it all comes down to what really matters most.",
  "Needless to say, one could talk about that for hours and hours, and there would still be more to say.",
  "Ladies and gentlemen, honourable judges, dear opponent, thank you very much for the opportunity to speak here today.",
];
const elsewhere = [
  "The weather was lovely on Monday and my grandmother baked a chocolate cake.",
  "My cat chases wool because the parcel was full of it.",
  "According to my neighbour, volcanoes on Iceland erupt every five years.",
  "Penguins dive to two hundred metres, so their feathers are dense.",
  "The orchestra tuned its violins while the audience found its seats.",
  "In 1969 a rocket landed on the moon, and astronauts collected dust.",
];

export const abuses: readonly Abuse[] = [
  {
    name: "phrases of the lexicon alone",
    write: (draw, _topic, _honest, length) => until(length, () => draw.pick(markers)),
  },
  {
    name: "phrases and words of the topic",
    write: (draw, { question, background }, _honest, length) =>
      until(length, () => draw.pick([draw.pick(markers), draw.pick(words(`${question} ${background}`))])),
  },
  {
    name: "phrases, words of the topic and of the grammar, in sentences",
    write: (draw, { question, keyPoints }, _honest, length) =>
      until(length, () => {
        const known = words([question, ...keyPoints.pro, ...keyPoints.con].join(" "));
        const sentence = Array.from({ length: 8 + draw.below(6) }, () =>
          draw.pick([draw.pick(markers), draw.pick(function_), draw.pick(known)]),
        );
        return `${capitalised(sentence.join(" "))}.`;
      }),
  },
  {
    name: "phrases stuffed into sentences without a point",
    write: (draw, { question }, _honest, length) =>
      until(length, () => {
        const [a, b, c] = [0, 0, 0].map(() => draw.pick(markers));
        const word = draw.pick(words(question));
        return draw.pick([
          `${capitalised(a as string)} ${b} ${word}, ${c} it is evidence.`,
          `Because of ${a}, the ${word} is ${b}, therefore ${c}.`,
          `${capitalised(a as string)}, the data shows that ${word} is good, ${b}, ${c}.`,
        ]);
      }),
  },
  {
    name: "one sentence again and again",
    write: (_draw, _topic, honest, length) => until(length, () => sentences(honest)[0] as string),
  },
  {
    name: "the sentences of an argument in another order, again and again",
    write: (draw, _topic, honest, length) => {
      const all = sentences(honest).slice(0, 2);
      return until(length * 2, () => draw.shuffle(all).join(" "));
    },
  },
  {
    name: "one word again and again",
    write: (draw, { question }, _honest, length) => {
      const word = draw.pick(words(question));
      return until(length, () => word);
    },
  },
  {
    name: "an argument of the opponent",
    write: (draw, { con }, _honest, length) => until(length, () => draw.pick(con)).slice(0, length),
  },
  {
    name: "an argument of the opponent with one word in seven replaced",
    write: (draw, { con }, _honest, length) =>
      edited(until(length, () => draw.pick(con)).slice(0, length), draw, 14, [
        "zebra",
        "river",
        "carpet",
        "the",
        "lamp",
      ]),
  },
  {
    name: "the words of the opponent in another order",
    write: (draw, { con }, _honest, length) =>
      until(length, () => `${capitalised(draw.shuffle(words(draw.pick(con))).join(" "))}.`).slice(0, length),
  },
  {
    name: "the opponent's argument behind an introduction",
    write: (draw, { con }, _honest, length) =>
      until(
        length,
        () => `${draw.pick(["I think that", "It is clear that", "As has been said,"])} ${draw.pick(con)}`,
      ).slice(0, length),
  },
  {
    name: "the proposition again and again",
    write: (draw, { question }, _honest, length) =>
      until(length, () =>
        draw.pick([question, `I believe that ${question}`, `Therefore, ${question}`, `Indeed: ${question}`]),
      ),
  },
  {
    name: "the background",
    write: (_draw, { background, question }, _honest, length) =>
      until(length, () => `${background} ${question}`).slice(0, length),
  },
  {
    name: "key points in lines",
    write: (draw, { keyPoints }, _honest, length) => until(length, () => `- ${draw.pick(keyPoints.pro)}`, "\n"),
  },
  {
    name: "key points without their small words",
    write: (draw, { keyPoints }, _honest, length) =>
      until(
        length,
        () =>
          words(draw.pick(keyPoints.pro))
            .filter((word) => word.length > 3)
            .join(" "),
        draw.pick(["; ", ", ", ". "]),
      ),
  },
  {
    name: "key points behind an introduction",
    write: (draw, { keyPoints }, _honest, length) =>
      until(
        length,
        () =>
          `${draw.pick(["My point is that", "In addition,", "Research shows that", "Remember that"])} ${draw.pick(keyPoints.pro)}`,
      ),
  },
  {
    name: "an honest argument and as much that says nothing",
    write: (draw, _topic, honest) => {
      const filler = until(honest.length, () => draw.pick(empty));
      return draw.pick([`${honest} ${filler}`, `${filler} ${honest}`]);
    },
  },
  {
    name: "an honest argument and as much about something else",
    write: (draw, _topic, honest) => `${honest} ${until(honest.length, () => draw.pick(elsewhere))}`,
  },
  {
    name: "an honest argument and as many signs",
    write: (draw, _topic, honest) =>
      `${honest}${until(honest.length, () => draw.pick(["!", "...", " ", "-", "\n", "🙂"]), "")}.`,
  },
  {
    name: "an honest argument and its own words",
    write: (draw, _topic, honest) => `${honest} ${until(honest.length, () => draw.pick(words(honest)))}`,
  },
];
