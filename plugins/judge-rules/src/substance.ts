import type { Lexicon, Markers } from "./lexicon.ts";
import type { Sources } from "./sources.ts";
import type { Sentence } from "./text.ts";
import { within } from "./within.ts";

/** Sentence with the share in which it counts. */
export interface WeighedSentence {
  readonly sentence: Sentence;
  /** Stems of its content. */
  readonly content: readonly string[];
  readonly markers: Markers;
  readonly isOnTopic: boolean;
  /** Share in which the sentence adds to the components, 0 to 1: 1 for a sentence of the speaker's own words on the topic. */
  readonly weight: number;
  /** Share of its characters that has substance, 0 to 1. */
  readonly substance: number;
}

/** Substance of a sentence without any relation to the topic. */
const OFF_TOPIC = 0.4;
/** Weight of such a sentence in an argument that has no other. Beside others its weight is 0: it adds nothing. */
const ALL_OFF_TOPIC = 0.5;

/**
 * Weighs the sentences of an argument. Each weight is a product, so that one fault is enough:
 * - own words: distinct stems that neither the task nor an earlier sentence of the argument has; at least 2, and 15% of the words
 * - copied: few pairs of words, and not all content, of one earlier message, of the task, or of an earlier sentence
 * - stuffed: at most 30% of the words belong to phrases of the lexicon
 * - repeated: at most a quarter of the words have occurred in the sentence before
 * - prose: words of the grammar between the words of the content, not a list
 * - topic: a stem of the task, two of the messages before, or one of another sentence on the topic
 */
export function weighSentences(
  sentences: readonly Sentence[],
  lexicon: Lexicon,
  sources: Sources,
): readonly WeighedSentence[] {
  const seen = new Set(sources.task);
  const earlier = sources.copyable();
  const measured = sentences.map((sentence) => {
    const { words } = sentence;
    const content = lexicon.contentOf(words);
    const stems = words.map((word) => lexicon.stem(word));
    const markers = lexicon.markersOf(words);
    const distinct = new Set(content);
    const own = [...distinct].filter((stem) => !seen.has(stem)).length;
    const quality =
      Math.min(1, own / Math.max(2, 0.15 * words.length)) *
      earlier.originality(stems, distinct) *
      within(markers.words / Math.max(1, words.length), { full: 0.3, none: 0.55 }) *
      within(1 - new Set(words).size / Math.max(1, words.length), { full: 0.25, none: 0.6 }) *
      prose(sentence, lexicon);
    for (const stem of distinct) seen.add(stem);
    earlier.add(stems, distinct);
    return { sentence, content, markers, quality };
  });
  const onTopic = relatedTo(sources, measured);
  const beside = onTopic.includes(true) ? 0 : ALL_OFF_TOPIC;
  return measured.map(({ quality, ...rest }, i) => {
    const isOnTopic = onTopic[i] as boolean;
    return {
      ...rest,
      isOnTopic,
      weight: quality * (isOnTopic ? 1 : beside),
      substance: quality * (isOnTopic ? 1 : OFF_TOPIC),
    };
  });
}

/** Quality from which a sentence on the topic relates others to it: a list of words relates nothing. */
const RELATES = 0.5;

/** Returns for each sentence whether it is on the topic: by a stem of the task, two of the messages, or one of another sentence on the topic. */
function relatedTo(
  { task, messages }: Sources,
  measured: readonly { readonly content: readonly string[]; readonly quality: number }[],
): boolean[] {
  if (task.size + messages.size === 0) return measured.map(() => true);
  const related = new Set(task);
  const found = measured.map(({ content }) => new Set(content.filter((stem) => messages.has(stem))).size >= 2);
  for (const [i, { content, quality }] of measured.entries())
    if (found[i] === true && quality >= RELATES) for (const stem of content) related.add(stem);
  for (let grows = true; grows;) {
    grows = false;
    for (const [i, { content, quality }] of measured.entries()) {
      if (found[i] === true || !content.some((stem) => related.has(stem))) continue;
      found[i] = true;
      if (quality < RELATES) continue;
      grows = true;
      for (const stem of content) related.add(stem);
    }
  }
  return found;
}

/**
 * Share in which a whole argument is prose: English has 40 to 55% words of the grammar, a list of keywords almost none. Short texts are not measured.
 */
export function proseOf(sentences: readonly Sentence[], lexicon: Lexicon): number {
  const words = sentences.flatMap((sentence) => sentence.words);
  return grammar(words, lexicon, { free: 1.2, slope: 0.12 });
}

function prose(sentence: Sentence, lexicon: Lexicon): number {
  const { words, parts } = sentence;
  const share = words.filter((word) => lexicon.isFunctionWord(word)).length / Math.max(1, words.length);
  const isList = parts >= 3 && words.length / parts <= 4 && share < 0.25;
  // Interjections between commas: "well, um, you know, ...".
  const isChopped = parts >= 5 && words.length / parts < 3.5;
  return grammar(words, lexicon, { free: 2, slope: 0.2 }) * (isList ? 0.2 : isChopped ? 0.5 : 1);
}

/** Compares the number of words of the grammar with 30% of all words, less `free`; `slope` times the words below it the result is 0. */
function grammar(
  words: readonly string[],
  lexicon: Lexicon,
  { free, slope }: { readonly free: number; readonly slope: number },
): number {
  const present = words.filter((word) => lexicon.isFunctionWord(word)).length;
  const missing = 0.3 * words.length - free - present;
  const surplus = present - 0.8 * words.length - free;
  const fault = Math.max(0, missing, surplus);
  return Math.max(0, 1 - fault / Math.max(1, slope * words.length));
}
