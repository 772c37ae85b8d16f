import { existsSync } from "node:fs";
import { MrlmError } from "@mrlm/spec";
import type { LearnerId } from "@mrlm/spec/host";
import type { Database } from "./database.ts";
import { openDatabase, reported } from "./open-database.ts";
import { assertRun, readMeta } from "./store-meta.ts";
import { type StorePlace, withoutPassword } from "./store-place.ts";
import { storeProviderOf, type StoreProvider } from "./store-provider.ts";

/** Longest wait for another process that writes. Its transactions take milliseconds. */
const BUSY_MS = 2_000;

type Learners = Readonly<Record<LearnerId, { readonly takes: number }>>;

/**
 * Throws STORE_INVALID or STORE_FAILED where a run that resumes could not use its store, and changes no row.
 * @param run id of the run
 * @param learners with the number of batches that each has taken by the checkpoint; omitted without one: the store may be missing
 */
export function checkEpisodeStore(place: StorePlace, run: string, learners?: Learners): void {
  const { path } = place;
  const provider = storeProviderOf(place);
  if (provider !== undefined) return checkProvided(provider, path, run, learners);
  if (!existsSync(path)) {
    if (learners === undefined) return;
    throw incomplete(`The episode store ${path} is missing.`);
  }
  const database = openDatabase(path, run, BUSY_MS);
  try {
    reported(path, () => {
      // SQLite opens a read-only file without an error, and begins transactions that only read.
      database.exec("UPDATE meta SET value = value WHERE FALSE");
      assertTaken(database, path, learners ?? {});
    });
  } finally {
    database.close();
  }
}

function checkProvided(provider: StoreProvider, path: string, run: string, learners: Learners | undefined): void {
  const database = provider.openToRead(path);
  if (database === undefined) {
    if (learners === undefined) return;
    throw incomplete(`The episode store ${withoutPassword(path)} is missing.`);
  }
  try {
    assertRun(readMeta(database), path, run);
    assertTaken(database, withoutPassword(path), learners ?? {});
  } finally {
    database.close();
  }
}

/** Throws STORE_INVALID where the last batch of a learner is not in the log: the file is an earlier copy. */
function assertTaken(database: Database, path: string, learners: Learners): void {
  const logged = database.prepare("SELECT 1 FROM steps WHERE learner = ? AND step = ? AND state <> 'abandoned'");
  for (const [learner, { takes }] of Object.entries(learners))
    if (takes > 0 && logged.get(learner, takes) === undefined)
      throw incomplete(
        `The episode store ${path} lacks batch ${takes} of learner ${learner}, which the run has learnt.`,
      );
}

function incomplete(message: string): MrlmError {
  return new MrlmError("STORE_INVALID", message, {
    hint: "Restore it from a copy, or start a new run from the model of the checkpoint.",
  });
}
