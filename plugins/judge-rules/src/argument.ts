import type { Lexicon } from "./lexicon.ts";
import type { RulesOptions } from "./options.ts";
import type { Sources } from "./sources.ts";
import { proseOf, type WeighedSentence, weighSentences } from "./substance.ts";
import { normalise, sentencesOf, wordsOf } from "./text.ts";
import { within } from "./within.ts";

/** Components of an argument, each 0 to 1. */
export interface Components {
  readonly length: number;
  readonly evidence: number;
  readonly reasoning: number;
  readonly structure: number;
  readonly relevance: number;
}

export interface ArgumentScore {
  /** Weighted sum of the components, times `substance`. */
  readonly value: number;
  readonly components: Components;
  /** Share of the text that counts, 0 to 1. */
  readonly substance: number;
  readonly concedes: boolean;
  readonly sentences: readonly WeighedSentence[];
}

/** Substance of a text from which it is not damped further: honest prose has short sentences too. */
const ENOUGH = 0.8;
/** Sentences with a marker for the full component. */
const ENOUGH_MARKED = 2;
/** Stems of the topic for the full relevance. */
const ENOUGH_TOPIC = 3;
/** White space at both ends of a text that is not counted. */
const FREE_SPACE = 8;

/** Scores one argument. All components count the sentences by their weights. */
export function scoreArgument(
  text: string,
  sources: Sources,
  lexicon: Lexicon,
  { weights, length }: RulesOptions,
): ArgumentScore {
  const normal = normalise(text);
  const sentences = weighSentences(sentencesOf(normal), lexicon, sources);
  const kept = sum(sentences, ({ sentence, weight }) => sentence.characters * weight);
  const substantial = sum(sentences, ({ sentence, substance: share }) => sentence.characters * share);
  const total = Math.max(
    normal.length - FREE_SPACE,
    sum(sentences, ({ sentence }) => sentence.characters),
  );
  const isProse = proseOf(
    sentences.map(({ sentence }) => sentence),
    lexicon,
  );
  const substance = total === 0 ? 0 : isProse * Math.min(1, substantial / total / ENOUGH);
  const components = {
    length: lengthOf(kept, length),
    evidence: marked(sentences, "evidence"),
    reasoning: marked(sentences, "reasoning"),
    structure: structureOf(sentences),
    relevance: relevanceOf(sentences, kept, sources),
  };
  const used = Object.entries(weights.argument).filter(([name]) => name !== "relevance" || sources.task.size > 0);
  const whole = used.reduce((all, [, weight]) => all + weight, 0);
  const earned = used.reduce((all, [name, weight]) => all + weight * components[name as keyof Components], 0);
  return {
    value: whole === 0 ? 0 : (substance * earned) / whole,
    components,
    substance,
    concedes: lexicon.concedes(wordsOf(normal)),
    sentences,
  };
}

/** Rises to 1 at `from` characters, and falls from `to` to 0 at three times `to`. */
function lengthOf(characters: number, [from, to]: RulesOptions["length"]): number {
  return Math.min(characters / from, within(characters, { full: to, none: 3 * to }), 1);
}

/** Counts each phrase once, and one phrase of each sentence. */
function marked(sentences: readonly WeighedSentence[], kind: "evidence" | "reasoning" | "structure"): number {
  const used = new Set<string>();
  let count = 0;
  for (const { markers, weight, isOnTopic } of sentences) {
    const phrase = markers.found[kind].find((each) => each === "a number" || !used.has(each));
    if (phrase === undefined || !isOnTopic) continue;
    used.add(phrase);
    count += weight;
  }
  return Math.min(1, count / ENOUGH_MARKED);
}

/** Half for three sentences that end with a stop, half for a phrase that orders or contrasts them. */
function structureOf(sentences: readonly WeighedSentence[]): number {
  const ended = sum(sentences, ({ sentence, weight }) => (sentence.hasStop ? weight : 0));
  return 0.5 * Math.min(1, ended / 3) + 0.5 * Math.min(1, 2 * marked(sentences, "structure"));
}

/** Half for the share of the text that is on the topic, half for the number of its stems. */
function relevanceOf(sentences: readonly WeighedSentence[], kept: number, { task }: Sources): number {
  if (kept === 0) return 0;
  const onTopic = sum(sentences, ({ sentence, weight, isOnTopic }) => (isOnTopic ? sentence.characters * weight : 0));
  const stems = new Map<string, number>();
  for (const { content, weight } of sentences)
    for (const stem of content) if (task.has(stem)) stems.set(stem, Math.max(weight, stems.get(stem) ?? 0));
  const count = [...stems.values()].reduce((all, weight) => all + weight, 0);
  return 0.5 * (onTopic / kept) + 0.5 * Math.min(1, count / ENOUGH_TOPIC);
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((all, value) => all + of(value), 0);
}
