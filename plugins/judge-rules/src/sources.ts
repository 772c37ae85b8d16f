import type { Lexicon } from "./lexicon.ts";
import { normalise, wordsOf } from "./text.ts";
import { within } from "./within.ts";

/** Texts that an argument may have copied. */
class Copyable {
  readonly #parent: Copyable | undefined;
  /** Numbers of the texts that have a stem in their content. */
  readonly #textsOf = new Map<string, number[]>();
  /** Contents so far: a text with the content of an earlier one adds none. */
  readonly #contents = new Set<string>();
  /** Pairs of neighbouring stems of all texts. */
  readonly #pairs = new Set<string>();

  constructor(parent?: Copyable) {
    this.#parent = parent;
  }

  /** Adds a text: the stems of its words, and those of its content. */
  add(stems: readonly string[], content: ReadonlySet<string>): void {
    const key = [...content].sort().join(" ");
    if (!this.#contents.has(key)) {
      const text = this.#contents.size;
      this.#contents.add(key);
      for (const stem of content) {
        const texts = this.#textsOf.get(stem);
        if (texts === undefined) this.#textsOf.set(stem, [text]);
        else texts.push(text);
      }
    }
    for (let i = 1; i < stems.length; i++) this.#pairs.add(`${stems[i - 1]} ${stems[i]}`);
  }

  /**
   * Returns 1 for a sentence of the speaker's own, 0 for a copy. A copy repeats pairs of neighbouring words (45% or more), or in another order
   * nearly all content of one text (92% or more).
   */
  originality(stems: readonly string[], content: ReadonlySet<string>): number {
    if (content.size === 0) return 1;
    let known = 0;
    for (let i = 1; i < stems.length; i++) if (this.hasPair(`${stems[i - 1]} ${stems[i]}`)) known++;
    const pairs = known / Math.max(1, stems.length - 1);
    const contained = this.mostContained(content) / content.size;
    return within(pairs, { full: 0.25, none: 0.45 }) * within(contained, { full: 0.75, none: 0.92 });
  }

  hasPair(pair: string): boolean {
    return this.#pairs.has(pair) || (this.#parent?.hasPair(pair) ?? false);
  }

  mostContained(content: ReadonlySet<string>): number {
    const shared = new Map<number, number>();
    let most = this.#parent?.mostContained(content) ?? 0;
    for (const stem of content)
      for (const text of this.#textsOf.get(stem) ?? []) {
        const count = (shared.get(text) ?? 0) + 1;
        shared.set(text, count);
        most = Math.max(most, count);
      }
    return most;
  }
}

/** Texts before an argument: the task, and the messages of all agents so far. */
export class Sources {
  /** Stems of the task: the proposition, the key points and the background. They are no words of the speaker. */
  readonly task: ReadonlySet<string>;
  /** Stems of the messages so far. */
  readonly messages = new Set<string>();
  readonly #lexicon: Lexicon;
  readonly #copyable = new Copyable();

  /** @param task texts of the task: the proposition, the key points of all sides and the background */
  constructor(lexicon: Lexicon, task: readonly string[]) {
    this.#lexicon = lexicon;
    // The joined texts make a list of words from several of them a copy too.
    this.task = new Set([...task, task.join("\n")].flatMap((text) => this.#add(text)));
  }

  addMessage(text: string): void {
    for (const stem of this.#add(text)) this.messages.add(stem);
  }

  /** Returns the texts that the next sentence may have copied. Sentences that are added to it are no part of the sources. */
  copyable(): Copyable {
    return new Copyable(this.#copyable);
  }

  /** Adds a text and returns its content. */
  #add(text: string): readonly string[] {
    const words = wordsOf(normalise(text));
    const content = this.#lexicon.contentOf(words);
    this.#copyable.add(
      words.map((word) => this.#lexicon.stem(word)),
      new Set(content),
    );
    return content;
  }
}
