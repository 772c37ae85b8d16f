import { randomUUID } from "node:crypto";
import type { EpisodeStore } from "@mrlm/spec/host";
import { openLocalStore } from "@mrlm/store";
import type { OpenedAs, StorePlace } from "../../../../core/store/test/contract/store-place.ts";

/** Plugin of a place, from its sources. */
export const PLUGIN = { plugin: new URL("../../src/index.ts", import.meta.url).href };

/** Place of a run in a database of Postgres, in a schema of its own. */
export class PostgresPlace implements StorePlace {
  readonly run = randomUUID();
  readonly #url: string;
  readonly #open: EpisodeStore[] = [];
  #now = 1_000_000;

  /** @param url of the database */
  constructor(url: string) {
    this.#url = url;
  }

  async open({ endsLeases = true, ...resumed }: OpenedAs = {}): Promise<EpisodeStore> {
    const settings = { path: this.#url, ...PLUGIN, run: this.run, purpose: "train", endsLeases, ...resumed } as const;
    const store = await openLocalStore(settings, () => this.#now);
    this.#open.push(store);
    return store;
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  /** Leaves the connections as they are: the database knows nothing of the end of a client for a while. */
  async crash(): Promise<void> {}

  async dispose(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((store) => store.close()));
  }
}
