import { type Form, isSame, wordsOf } from "./instruction.ts";
import type { Item } from "./items.ts";

export type Line = { readonly separator: string; readonly open: string; readonly close: string };

/** One line of names. */
export const line: Form<Line> = {
  draw: (random) => ({
    separator: random.pick([", ", " | ", " / ", "; ", " > "]),
    ...random.pick([
      { open: "", close: "" },
      { open: "[", close: "]" },
      { open: "(", close: ")" },
    ]),
  }),
  describe: ({ separator, open, close }) =>
    `Write their names in one line, with "${separator}" between them${open === "" ? "" : ` and the whole line between ${open} and ${close}`}. Write nothing else.`,
  holds: (value, { body, items }) => body.length === 1 && isSame(body[0], line.write(value, items)[0] as string),
  write: ({ separator, open, close }, items) => [open + items.map(({ name }) => name).join(separator) + close],
};

export type List = { readonly marker: string; readonly entry: "price" | "city" | "color" };

const ENTRIES: Readonly<Record<List["entry"], readonly [words: string, write: (item: Item) => string]>> = {
  price: ["its name, a colon, a space and its price as a number", ({ name, price }) => `${name}: ${price}`],
  city: ["its name, a space and its city in parentheses", ({ name, city }) => `${name} (${city})`],
  color: ["its color, a hyphen and its name, without spaces", ({ name, color }) => `${color}-${name}`],
};

/** A list with one line for each item. */
export const list: Form<List> = {
  draw: (random) => ({
    marker: random.pick(["-", "*", "+", "1.", "1)", "#1"]),
    entry: random.pick(["price", "city", "color"] as const),
  }),
  describe: ({ marker, entry }) =>
    `Write a list with one line for each of them: ${/1/.test(marker) ? `its number in the list, as in "${marker}"` : `the sign "${marker}"`}, a space, and then ${ENTRIES[entry][0]}. Write no other lines.`,
  holds(value, { body, items }) {
    const lines = list.write(value, items);
    return body.length === lines.length && lines.every((each, i) => isSame(body[i], each));
  },
  write: ({ marker, entry }, items) =>
    items.map((item, i) => `${marker.replace("1", String(i + 1))} ${ENTRIES[entry][1](item)}`),
};

export type Prose = {
  readonly separator: "a line break" | "an empty line" | '" | "' | "one space";
  readonly least: number;
  readonly most: number;
};

const SEPARATORS: Readonly<Record<Prose["separator"], string>> = {
  "a line break": "\n",
  "an empty line": "\n\n",
  '" | "': " | ",
  "one space": " ",
};
/** Ends of sentences, by their number of words. */
const ENDS = [
  "",
  " today",
  " this week",
  " in our shop",
  " in our small shop",
  " in our small shop today",
  " in our small shop this week",
];
/** Number of words before the end of a sentence. */
const BEGIN = 5;

/** One sentence for each item, with its name and its price. */
export const prose: Form<Prose> = {
  draw(random) {
    const least = random.integer(BEGIN, BEGIN + ENDS.length - 1);
    return {
      separator: random.pick(Object.keys(SEPARATORS) as Prose["separator"][]),
      least,
      most: least + random.integer(0, 2),
    };
  },
  describe: ({ separator, least, most }) =>
    `Write one sentence about each of them, with its name and its price as a number, and no other number. A sentence ends with a period, and ${separator} stands between two sentences. Each sentence has ${least === most ? least : `${least} to ${most}`} words, numbers counted, and has no word twice.`,
  holds({ separator, least, most }, { body, items }) {
    const sentences = body.join("\n").split(SEPARATORS[separator]);
    const whole = separator === "one space" ? joinWords(body.join("\n")) : sentences;
    return (
      whole.length === items.length &&
      items.every(({ name, price }, i) => {
        const words = wordsOf(whole[i] as string);
        return (
          /^[^.!?\n|]*[^.!?\n|\s]\.$/.test(whole[i] as string) &&
          words.length >= least &&
          words.length <= most &&
          new Set(words).size === words.length &&
          words.includes(name) &&
          words.filter((word) => /\p{N}/u.test(word)).join() === String(price)
        );
      })
    );
  },
  write: ({ separator, least }, items) =>
    items
      .map(({ name, price }) => `The ${name} costs ${price} coins${ENDS[least - BEGIN]}.`)
      .join(SEPARATORS[separator])
      .split("\n"),
};

/** Splits a line into sentences, between which one space stands. */
function joinWords(text: string): string[] {
  return text.split(/(?<=\.) (?=\S)/u);
}
