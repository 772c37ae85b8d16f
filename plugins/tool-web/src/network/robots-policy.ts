import { untilAborted } from "../until-aborted.ts";
import type { RobotsCheck, WebClient } from "./web-client.ts";
import { WebError } from "./web-error.ts";

/** Evaluates the text of a robots.txt for a page. */
export type RobotsMatcher = (question: {
  readonly file: string;
  readonly text: string;
  readonly page: string;
  readonly userAgent: string;
}) => Promise<boolean>;

const MAX_ORIGINS = 100;
/** Bytes of a robots.txt that are evaluated (RFC 9309, section 2.5: at least 500 KiB). */
const MAX_BYTES = 512 * 1024;

/**
 * Returns a check of robots.txt (RFC 9309). One file is read per origin. A file that is missing allows every page; a server that fails to send its file
 * allows none.
 */
export function robotsPolicy(client: WebClient, match: RobotsMatcher, userAgent: string): RobotsCheck {
  const files = new Map<string, Promise<string | undefined>>();
  return async ({ origin, href }, { signal }) => {
    const file = `${origin}/robots.txt`;
    // Other episodes may wait for the file too: the signal of one caller does not end its reading.
    const pending = files.get(origin) ?? readFile(client, file);
    files.delete(origin); // the most recent origin is the last key
    files.set(origin, pending);
    if (files.size > MAX_ORIGINS) files.delete(files.keys().next().value as string);
    pending.catch(() => files.delete(origin));
    const text = await untilAborted(pending, signal);
    if (text === undefined) files.delete(origin); // the server may recover
    return text !== undefined && (text === "" || (await match({ file, text, page: href, userAgent })));
  };
}

/** Returns the text of a robots.txt: empty if there is none, undefined if it cannot be read. */
async function readFile(client: WebClient, file: string): Promise<string | undefined> {
  try {
    const { status, body } = await client.get(file, { signal: new AbortController().signal });
    if (status >= 500 || status === 429) return undefined;
    return status >= 400 ? "" : Buffer.from(body.subarray(0, MAX_BYTES)).toString();
  } catch (error) {
    if (error instanceof WebError && error.kind !== "address" && error.kind !== "timeout") return undefined;
    throw error;
  }
}
