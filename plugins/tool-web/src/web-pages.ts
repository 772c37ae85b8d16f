import type { RobotsCheck, WebClient } from "./network/web-client.ts";
import type { Places } from "@mrlm/kit";
import { WebError } from "./network/web-error.ts";
import { isReadableType } from "./page/media-type.ts";
import { convertInWorker } from "./worker/convert-in-worker.ts";
import type { PageSource } from "./tools/page-source.ts";
import { WorkerFailure, type WorkerPool } from "./worker/worker-pool.ts";

export interface WebPagesOptions {
  readonly client: WebClient;
  readonly robots: RobotsCheck | undefined;
  readonly pool: WorkerPool;
  readonly isMainContentOnly: boolean;
  /** Pages that are held in memory at once. */
  readonly places: Places;
}

export function webPages({ client, robots, pool, isMainContentOnly, places }: WebPagesOptions): PageSource {
  const read: PageSource = async (text, { signal, queued }) => {
    const page = await client.get(text, { signal, robots });
    const url = page.url.href;
    if (page.status < 200 || page.status > 299)
      throw new WebError("content", `The server answered with the status ${page.status}${meaningOf(page.status)}.`);
    const contentType = page.headers["content-type"] ?? "";
    if (!isReadableType(contentType, page.body))
      throw new WebError(
        "content",
        `The page is of the type ${JSON.stringify(contentType.slice(0, 100))}, which is not text.`,
      );
    try {
      const source = { bytes: page.body, contentType, url, isMainContentOnly };
      const converted = await convertInWorker(pool, source, { signal, queued });
      return { ...converted, url, isTruncated: converted.isTruncated || page.isTruncated };
    } catch (error) {
      if (!(error instanceof WorkerFailure)) throw error;
      throw new WebError("content", "The page is too large or too irregular to convert.", { cause: error });
    }
  };
  return (text, options) => places.hold(options, () => read(text, options));
}

function meaningOf(status: number): string {
  if (status === 404 || status === 410) return " (the page does not exist)";
  if (status === 401 || status === 403) return " (the page is not public)";
  if (status === 429) return " (too many requests)";
  return status >= 500 ? " (the server failed)" : "";
}
