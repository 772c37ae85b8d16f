import { type JobOptions, WorkerFailure, type WorkerPool } from "./worker-pool.ts";
import type { PageSource } from "../page/convert-page.ts";
import type { ConvertedPage } from "../page/convert-text.ts";

const FALLBACK_NOTE =
  "The page is too large or too irregular to convert. This is the text at its start, without links and tables.";

/**
 * Converts a page in a worker thread. A page that exceeds the limits of the thread is read again as plain text, cut, with a note.
 * @throws WorkerFailure if that fails too
 */
export async function convertInWorker(
  pool: WorkerPool,
  source: Omit<PageSource, "isPlain">,
  options: JobOptions,
): Promise<ConvertedPage> {
  for (const isMainContentOnly of source.isMainContentOnly ? [true, false] : [false]) {
    try {
      return await pool.run("convert", { ...source, isMainContentOnly, isPlain: false }, options);
    } catch (error) {
      if (!(error instanceof WorkerFailure)) throw error;
    }
  }
  const page = await pool.run("convert", { ...source, isPlain: true }, options);
  return { ...page, isTruncated: true, notes: [FALLBACK_NOTE] };
}
