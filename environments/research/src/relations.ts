/** Kinds of things that a generated corpus has pages of. */
export const KINDS = ["person", "company", "town", "bridge"] as const;
export type Kind = (typeof KINDS)[number];

/** Facts of each kind: those that name another thing, by its kind, and those that are numbers, with their range. */
export const FACTS: Readonly<
  Record<
    Kind,
    {
      readonly links: Readonly<Record<string, Kind>>;
      readonly numbers: Readonly<Record<string, readonly [least: number, most: number]>>;
    }
  >
> = {
  person: {
    links: { birthplace: "town", employer: "company" },
    numbers: { "year of birth": [1850, 1999] },
  },
  company: {
    links: { founder: "person", seat: "town" },
    numbers: { "founding year": [1850, 2019], "number of employees": [12, 98_000] },
  },
  town: {
    links: { mayor: "person", "oldest bridge": "bridge" },
    numbers: { population: [400, 990_000], "elevation in metres": [3, 2_900] },
  },
  bridge: {
    links: { builder: "company" },
    numbers: { "length in metres": [18, 4_700], "opening year": [1701, 2019] },
  },
};

/** Returns the sentence of a page that states a fact. */
export function sentenceOf(fact: string, name: string, value: string | number): string {
  return `The ${fact} of ${name} is ${value}.`;
}

/** Chain of facts that leads from a named thing to a number: each fact is one of the thing that the fact before it names. */
export interface Chain {
  readonly start: string;
  /** In order from the start; the last one is a number. */
  readonly facts: readonly string[];
}

/** Returns the question for the end of a chain. */
export function questionOf({ start, facts }: Chain): string {
  return `What is the ${facts.toReversed().join(" of the ")} of ${start}?`;
}

/** Reads a generated question; `undefined` for another one. */
export function chainOf(question: string): Chain | undefined {
  const [, inner] = /What is the (.+) of (\S+)\?/.exec(question) ?? [];
  const start = /of (\S+)\?/.exec(question)?.[1];
  return inner === undefined || start === undefined
    ? undefined
    : { start, facts: inner.split(" of the ").toReversed() };
}
