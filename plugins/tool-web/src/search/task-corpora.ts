import { createHash } from "node:crypto";
import type { Corpus } from "./corpus.ts";

export type TaskFiles = Readonly<Record<string, string | Uint8Array>>;

/** Builds the corpus of a task. The signal aborts when no episode needs it any more. */
export type BuildCorpus = (files: TaskFiles, signal: AbortSignal) => Promise<Corpus>;

interface Shared {
  readonly key: string;
  readonly corpus: Promise<Corpus>;
  readonly end: AbortController;
  users: number;
}

/** Corpora of the files of tasks. Open episodes with the same files share one corpus: a group plays one task many times. */
export class TaskCorpora {
  readonly #build: BuildCorpus;
  readonly #shared = new Map<string, Shared>();

  constructor(build: BuildCorpus) {
    this.#build = build;
  }

  /** Returns the corpus of one episode, which is built when it is first asked for. */
  of(files: TaskFiles): { corpus(): Promise<Corpus>; close(): void } {
    let shared: Shared | undefined;
    return {
      corpus: async () => await (shared ??= this.#take(files)).corpus,
      close: () => {
        if (shared === undefined || --shared.users > 0) return;
        this.#shared.delete(shared.key);
        shared.end.abort();
      },
    };
  }

  #take(files: TaskFiles): Shared {
    const key = keyOf(files);
    let shared = this.#shared.get(key);
    if (shared === undefined) {
      const end = new AbortController();
      shared = { key, corpus: this.#build(files, end.signal), end, users: 0 };
      shared.corpus.catch(() => undefined); // each caller receives it
      this.#shared.set(key, shared);
    }
    shared.users++;
    return shared;
  }
}

function keyOf(files: TaskFiles): string {
  const hash = createHash("sha256");
  for (const name of Object.keys(files).toSorted()) {
    const content = createHash("sha256").update(files[name] as string | Uint8Array);
    hash.update(JSON.stringify([name, content.digest("hex")]));
  }
  return hash.digest("hex");
}
