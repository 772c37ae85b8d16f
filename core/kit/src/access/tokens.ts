import { createHash, timingSafeEqual } from "node:crypto";

/** Token with the name of the client that holds it. */
export interface NamedToken {
  /** `undefined` where a server has one token for all. */
  readonly name: string | undefined;
  readonly token: string;
}

/** Client that a valid token identifies. */
export type TokenHolder = Pick<NamedToken, "name">;

interface Entry extends TokenHolder {
  readonly digest: Buffer;
  /** End of validity in milliseconds of `performance.now()`. */
  readonly endsAt: number;
}

/** Tokens that a server accepts. They can be replaced while it runs; a replaced one stays valid for some time. */
export class Tokens {
  readonly #listeners = new Set<() => void>();
  #entries: readonly Entry[];
  #timer: NodeJS.Timeout | undefined;

  constructor(tokens: readonly NamedToken[]) {
    this.#entries = tokens.map(entry);
  }

  /** Makes the tokens of a server with one for all. */
  static of(token: string): Tokens {
    return new Tokens([{ name: undefined, token }]);
  }

  /** Names of the clients with a valid token. */
  get names(): readonly string[] {
    return [...new Set(this.#entries.map(({ name }) => name).filter((name) => name !== undefined))];
  }

  /**
   * Returns the client whose token a header `authorization: Bearer TOKEN` carries; `undefined` for any other header. Compares with every token, each
   * in constant time.
   */
  holder(authorization: string | undefined): TokenHolder | undefined {
    // The letter case of the scheme does not matter (RFC 9110, section 11.1).
    const [, token = ""] = /^bearer +(.*)$/i.exec(authorization ?? "") ?? [];
    const given = digest(token);
    const now = performance.now();
    let found: Entry | undefined;
    for (const each of this.#entries) if (timingSafeEqual(given, each.digest) && now < each.endsAt) found = each;
    return found;
  }

  /** Replaces the tokens. Those that are not among the new ones end after `graceMs`. */
  replace(tokens: readonly NamedToken[], graceMs: number): void {
    const entries = tokens.map(entry);
    const limit = performance.now() + graceMs;
    const replaced = this.#entries.filter((old) => !entries.some((each) => each.digest.equals(old.digest)));
    this.#entries = [...entries, ...replaced.map((old) => ({ ...old, endsAt: Math.min(old.endsAt, limit) }))];
    this.#expire();
  }

  /** Calls back each time that tokens have ended. @returns removes the callback */
  onExpired(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #expire(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    const valid = this.#entries.filter(({ endsAt }) => endsAt > now);
    const hasExpired = valid.length < this.#entries.length;
    this.#entries = valid;
    const next = Math.min(...valid.map(({ endsAt }) => endsAt));
    // A timer may fire a fraction of a millisecond early.
    if (next < Infinity) this.#timer = setTimeout(() => this.#expire(), Math.ceil(next - now) + 1).unref();
    if (hasExpired) for (const listener of [...this.#listeners]) listener();
  }
}

function entry({ name, token }: NamedToken): Entry {
  return { name, digest: digest(token), endsAt: Infinity };
}

/** Hashes a text. Digests have equal lengths, so the time of a comparison depends on neither the token nor its length. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
