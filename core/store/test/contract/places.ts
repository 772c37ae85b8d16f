import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EpisodeStore } from "@mrlm/spec/host";
import { openLocalStore } from "../../src/worker-store.ts";
import type { OpenedAs, StorePlace } from "./store-place.ts";
import { type Served, served } from "../support/served-store.ts";

/** Place of a SQLite file. */
export class FilePlace implements StorePlace {
  readonly #folder = mkdtempSync(join(tmpdir(), "mrlm-store-"));
  #path = join(this.#folder, "episodes.sqlite");
  #open: EpisodeStore[] = [];
  #now = 1_000_000;

  async open({ endsLeases = true, ...resumed }: OpenedAs = {}): Promise<EpisodeStore> {
    const settings = { path: this.#path, run: "run", purpose: "train", endsLeases, ...resumed } as const;
    const store = await openLocalStore(settings, () => this.#now);
    this.#open.push(store);
    return store;
  }

  advance(ms: number): void {
    this.#now += ms;
  }

  /** Continues with the files as they are now: a process that is killed closes nothing. */
  async crash(): Promise<void> {
    const next = `${this.#path}.next`;
    for (const end of ["", "-wal"])
      if (existsSync(`${this.#path}${end}`)) copyFileSync(`${this.#path}${end}`, `${next}${end}`);
    await this.#close();
    this.#path = next;
  }

  async dispose(): Promise<void> {
    await this.#close();
    rmSync(this.#folder, { recursive: true });
  }

  async #close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((store) => store.close()));
  }
}

/** Place of a store behind servers, one for each client. */
export class ServedPlace implements StorePlace {
  readonly #own = new FilePlace();
  readonly #open: { readonly client: EpisodeStore; readonly server: Served["server"] }[] = [];

  async open(as?: OpenedAs): Promise<EpisodeStore> {
    const { server, connect } = await served(await this.#own.open(as));
    const client = await connect();
    this.#open.push({ client, server });
    return client;
  }

  advance(ms: number): void {
    this.#own.advance(ms);
  }

  async crash(): Promise<void> {
    await this.#close();
    await this.#own.crash();
  }

  async dispose(): Promise<void> {
    await this.#close();
    await this.#own.dispose();
  }

  async #close(): Promise<void> {
    for (const { client, server } of this.#open.splice(0)) {
      await client.close();
      await server.close();
    }
  }
}
