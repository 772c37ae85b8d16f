import type { RandomStream } from "@mrlm/kit";
import { type Chain, FACTS, type Kind, KINDS, sentenceOf } from "./relations.ts";

/** Thing that a page describes. */
interface Thing {
  readonly kind: Kind;
  readonly name: string;
  readonly links: Readonly<Record<string, Thing>>;
  readonly numbers: Readonly<Record<string, number>>;
}

export interface DrawnChain {
  readonly chain: Chain;
  readonly answer: number;
}

/** Walks over the links that are tried for a chain. A small corpus may have no long one. */
const TRIES = 50;

/** Small corpus of one task: pages that name each other. */
export interface World {
  /** Pages by file name. */
  readonly site: Readonly<Record<string, string>>;
  /** Draws a chain over this number of different pages, with its end; `undefined` where none was found. */
  drawChain(random: RandomStream, hops: number): DrawnChain | undefined;
}

const BEGINNINGS = [
  "Bal",
  "Cor",
  "Dun",
  "Fel",
  "Gor",
  "Hal",
  "Ist",
  "Jor",
  "Kel",
  "Lor",
  "Mar",
  "Nev",
  "Or",
  "Pel",
  "Quin",
];
const MIDDLES = ["a", "e", "i", "o", "u", "an", "el", "ir", "om", "un"];
const ENDS = ["bek", "dor", "fin", "gard", "lin", "mund", "nor", "rak", "sten", "tov", "vik", "wen"];

/** Creates a corpus of things with names of one word, at least one of each kind. */
export function createWorld(random: RandomStream, pages: number): World {
  const names = new Set<string>();
  while (names.size < pages)
    names.add(random.pick(BEGINNINGS) + random.pick(MIDDLES) + random.pick(MIDDLES) + random.pick(ENDS));
  const things = [...names].map((name, i) => ({
    kind: KINDS[i % KINDS.length] as Kind,
    name,
    links: {} as Record<string, Thing>,
    numbers: {} as Record<string, number>,
  }));
  for (const { kind, name, links, numbers } of things) {
    for (const [fact, to] of Object.entries(FACTS[kind].links))
      links[fact] = random.pick(things.filter((other) => other.kind === to && other.name !== name));
    for (const [fact, [least, most]] of Object.entries(FACTS[kind].numbers))
      numbers[fact] = random.integer(least, most);
  }
  return {
    site: Object.fromEntries(things.map((thing) => [`${thing.name.toLowerCase()}.md`, pageOf(thing)])),
    drawChain: (draw, hops) => drawChain(draw, things, hops),
  };
}

/** A chain never returns to a page: its question would be a shorter one in disguise. */
function drawChain(random: RandomStream, things: readonly Thing[], hops: number): DrawnChain | undefined {
  for (let tried = 0; tried < TRIES; tried++) {
    const seen = [random.pick(things)];
    const facts: string[] = [];
    while (seen.length < hops) {
      const free = Object.entries((seen.at(-1) as Thing).links).filter(([, to]) => !seen.includes(to));
      if (free.length === 0) break;
      const [fact, to] = random.pick(free);
      facts.push(fact);
      seen.push(to);
    }
    if (seen.length < hops) continue;
    const [fact, answer] = random.pick(Object.entries((seen.at(-1) as Thing).numbers));
    return { chain: { start: (seen[0] as Thing).name, facts: [...facts, fact] }, answer };
  }
  return undefined;
}

function pageOf({ kind, name, links, numbers }: Thing): string {
  const facts = [...Object.entries(links).map(([fact, to]) => [fact, to.name] as const), ...Object.entries(numbers)];
  return [`# ${name}`, `${name} is a ${kind}.`, ...facts.map(([fact, value]) => sentenceOf(fact, name, value))].join(
    "\n\n",
  );
}
