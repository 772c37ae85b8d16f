import { type Place, readJsonl } from "@mrlm/kit";
import type { MathOptions } from "../options.ts";
import { FORMATS, type ReadRow, recognise } from "./formats.ts";
import type { Row } from "./row.ts";

/** What is known of a file's rows, each with its place. */
export type PlacedRow = Row & { readonly place: Place };

/** Reads and checks every row; throws DATA_INVALID, with the file and line, for the first that is not of the form. */
export async function readRows({ path, format }: NonNullable<MathOptions["data"]>): Promise<PlacedRow[]> {
  let read: ReadRow | undefined = format === "auto" ? undefined : FORMATS[format];
  return (await readJsonl(path, "data.path")).map(({ value, place }) => {
    read ??= recognise(value, place);
    return { ...read(value, place), place };
  });
}
