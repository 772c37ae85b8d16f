import { readFileSync } from "node:fs";
import type { EnginePlaces, RunDirectory } from "@mrlm/runtime";
import { storeProviderOf, type RunAnnouncement } from "@mrlm/store";
import { plainJson } from "./plain-json.ts";

/** Announcement of the engines of a training process to rollout workers: in the run's directory, and in the database of its store. */
export class AnnouncedEngines {
  readonly #run: RunDirectory;
  #announcement: RunAnnouncement | undefined;

  private constructor(run: RunDirectory) {
    this.#run = run;
  }

  /**
   * Removes what a killed process has left. A worker that found its engines before the leases of that process end would play its cohorts with other
   * weights.
   */
  static async open(run: RunDirectory): Promise<AnnouncedEngines> {
    const announced = new AnnouncedEngines(run);
    run.removeEngine();
    await announced.#database?.withdraw(false);
    return announced;
  }

  /** Announces the engines, when the store is open. */
  async announce(places: EnginePlaces): Promise<void> {
    const config = readFileSync(this.#run.configPath, "utf8");
    await this.#database?.announce({ config, engines: plainJson(places) });
    this.#run.writeEngine(places);
  }

  /** Withdraws the announcement. */
  async close(): Promise<void> {
    this.#run.removeEngine();
    const announcement = this.#announcement;
    await announcement?.withdraw(this.#run.readRecord()["status"] === "finished").catch(() => undefined);
    await announcement?.close();
  }

  /** A run names its database when its training begins for the first time. */
  get #database(): RunAnnouncement | undefined {
    const { store } = this.#run;
    return (this.#announcement ??= storeProviderOf(store)?.announce(store.path));
  }
}
