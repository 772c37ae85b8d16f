import { type Place, readJsonl } from "@mrlm/kit";
import type { MathOptions } from "../options.ts";
import { FORMATS, type ReadRow, recognise } from "./formats.ts";
import type { Row } from "./row.ts";

/** Rows of a file, each with its place. */
export type PlacedRow = Row & { readonly place: Place };

/** Reads and checks all rows. Throws DATA_INVALID, with file and line, for the first malformed row. */
export async function readRows({ path, format }: NonNullable<MathOptions["data"]>): Promise<PlacedRow[]> {
  let read: ReadRow | undefined = format === "auto" ? undefined : FORMATS[format];
  return (await readJsonl(path, "data.path")).map(({ value, place }) => {
    read ??= recognise(value, place);
    return { ...read(value, place), place };
  });
}
