import { MrlmError } from "@mrlm/spec";

/** Parameter of a URL that names the run: one database holds many. */
const RUN = "run";

/** Place of an episode store. */
export interface StorePlace {
  /** Path of a file, or URL of a database of Postgres: `postgres://USER@HOST:PORT/DATABASE`. */
  readonly path: string;
  /** URL of the module of the plugin that provides a database; not for a file. */
  readonly plugin?: string;
}

/** Whether the place of a store is a database of Postgres, and not a file. */
export function isPostgres(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

/** Whether a text is the URL of a database of Postgres. */
export function isDatabase(url: string): boolean {
  return isPostgres(url) && URL.canParse(url) && new URL(url).pathname.length > 1;
}

/** Returns the place of the store of a run in a database of Postgres. */
export function placeOfRun(url: string, run: string): string {
  const place = parsed(url);
  place.searchParams.set(RUN, run);
  return place.href;
}

/** Returns the run that a place names. */
export function runOfPlace(place: string): string | undefined {
  return parsed(place).searchParams.get(RUN) ?? undefined;
}

/** Returns a place as messages and files may have it: without its password. */
export function withoutPassword(place: string): string {
  if (!isPostgres(place)) return place;
  const url = parsed(place);
  url.password = "";
  url.searchParams.delete("password");
  return url.href;
}

/** Whether a URL holds a password. */
export function hasPassword(url: string): boolean {
  return withoutPassword(url) !== parsed(url).href;
}

/** Returns the URL of the database alone, for its driver. */
export function databaseOf(place: string): string {
  const url = parsed(place);
  url.searchParams.delete(RUN);
  return url.href;
}

/** Throws CONFIG_INVALID for a text that is no URL of a database. */
function parsed(place: string): URL {
  if (isDatabase(place)) return new URL(place);
  throw new MrlmError("CONFIG_INVALID", "The URL of an episode store names no database of Postgres.", {
    hint: "Write postgres://USER@HOST:PORT/DATABASE; the password belongs in PGPASSWORD.",
  });
}
