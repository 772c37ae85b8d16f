import { MrlmError } from "@mrlm/spec";

const HIDDEN = "[hidden]";

/** API keys of a client, read from environment variables once. */
export class Secrets {
  readonly #keys = new Map<string, string>();

  /**
   * Reads the keys of the named variables.
   * @throws ENDPOINT_KEY_MISSING, ENDPOINT_KEY_INVALID
   */
  constructor(names: readonly string[], env: Readonly<Record<string, string | undefined>>) {
    for (const name of names) {
      const key = env[name]?.trim() ?? "";
      if (key === "")
        throw new MrlmError(
          "ENDPOINT_KEY_MISSING",
          `The environment variable ${name}, which holds an API key, is not set.`,
        );
      if (!/^[\x21-\x7e]+$/.test(key))
        throw new MrlmError(
          "ENDPOINT_KEY_INVALID",
          `The value of the environment variable ${name} has a space, a control character or a character beyond ASCII, and cannot be an API key.`,
        );
      this.#keys.set(name, key);
    }
  }

  /** Returns the key of a variable that the constructor read. */
  key(name: string): string | undefined {
    return this.#keys.get(name);
  }

  /** Returns a text of an error without the keys: an endpoint may quote a key. An answer is data and stays as it is. */
  hide(text: string): string {
    let hidden = text;
    for (const key of this.#keys.values()) hidden = hidden.replaceAll(key, HIDDEN).replaceAll(escaped(key), HIDDEN);
    return hidden;
  }
}

/** Form of a key in the JSON of servers that escape slashes. */
const escaped = (key: string): string => JSON.stringify(key).slice(1, -1).replaceAll("/", "\\/");
