import { HttpError } from "@mrlm/kit/http";
import { ownerOf } from "@mrlm/server/sessions";
import { MrlmError } from "@mrlm/spec";

/** Ids of closed sessions that are remembered. */
const MAX_CLOSED = 16_384;

/** Names that clients give their sessions. A name opens one session, once: a close also refuses an opening that arrives later. */
export class NamedSessions {
  readonly #opening = new Map<string, Promise<void>>();
  /** Closed names, from the oldest on. */
  readonly #closed = new Set<string>();

  /** Opens a session, unless the same request has begun to. Rejects with status 410 for a closed name. @param open opens it, unless it is open */
  async open(client: string | undefined, id: string, open: () => Promise<void>): Promise<void> {
    const key = ownerOf(client, id);
    this.#refuseClosed(key);
    let opening = this.#opening.get(key);
    if (opening === undefined) {
      opening = open().finally(() => this.#opening.delete(key));
      this.#opening.set(key, opening);
    }
    await opening;
    this.#refuseClosed(key);
  }

  /** Closes a name, after an opening under way. @param close ends the session, if there is one */
  async close(client: string | undefined, id: string, close: () => Promise<void>): Promise<void> {
    const key = ownerOf(client, id);
    this.#closed.add(key);
    const [oldest] = this.#closed;
    if (this.#closed.size > MAX_CLOSED && oldest !== undefined) this.#closed.delete(oldest);
    await this.#opening.get(key)?.catch(() => undefined);
    await close();
  }

  #refuseClosed(key: string): void {
    if (this.#closed.has(key))
      throw new HttpError(
        410,
        new MrlmError("SESSION_NOT_FOUND", "The session of this name has been closed.", {
          hint: "Choose another name.",
        }),
      );
  }
}
