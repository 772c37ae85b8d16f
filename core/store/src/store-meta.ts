import { MrlmError } from "@mrlm/spec";
import type { Database } from "./database.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { withoutPassword } from "./store-place.ts";

/** Members of the table `meta`. */
export type Meta = Readonly<Record<string, unknown>>;

/** Reads the members of `meta`. */
export function readMeta(database: Database): Meta {
  const rows = database.prepare("SELECT key, value FROM meta").all();
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

/** Returns the members of `meta`. Throws STORE_INVALID where they are those of no store, or of another schema. */
export function assertMeta(meta: Meta, place: string): Meta {
  const name = withoutPassword(place);
  if (meta["schema"] === undefined)
    throw new MrlmError("STORE_INVALID", `${name} is not an episode store.`, {
      hint: "Move the file away, or name another one.",
    });
  if (meta["schema"] !== String(SCHEMA_VERSION))
    throw new MrlmError(
      "STORE_INVALID",
      `${name} has schema ${String(meta["schema"])}; this version of mrlm reads schema ${SCHEMA_VERSION}.`,
      { hint: "Use the version of mrlm that wrote it, or start a new run." },
    );
  return meta;
}

/** Throws STORE_INVALID for the store of another run. */
export function assertRun({ run: found }: Meta, place: string, run: string | undefined): void {
  if (run !== undefined && found !== run)
    throw new MrlmError("STORE_INVALID", `${withoutPassword(place)} belongs to run ${String(found)}, not to ${run}.`, {
      hint: "Restore the store of this run: directories of two runs were mixed.",
    });
}
