import type { Logger } from "@mrlm/spec";
import type { EnvironmentDescription } from "@mrlm/spec/host";

/** Warns once for each version in which servers offer an environment beside the first: their episodes may differ. */
export class PackageWatch {
  readonly #logger: Pick<Logger, "warn"> | undefined;
  /** Versions by environment id, with the server that offered each first. */
  readonly #versions = new Map<string, Map<string, string>>();

  constructor(logger: Pick<Logger, "warn"> | undefined) {
    this.#logger = logger;
  }

  note(address: string, { id, providedBy }: EnvironmentDescription): void {
    if (providedBy === undefined) return;
    const version = `${providedBy.name} ${providedBy.version}`;
    const known = this.#versions.get(id) ?? new Map<string, string>();
    this.#versions.set(id, known);
    if (known.has(version)) return;
    known.set(version, address);
    if (known.size === 1) return;
    const list = Array.from(known, ([each, server]) => `${each} at ${server}`).join(", ");
    this.#logger?.warn(`Servers offer ${id} in different versions: ${list}. Their episodes are mixed.`);
  }
}
