import { lookup } from "node:dns/promises";
import { MrlmError } from "@mrlm/spec";
import { badAddress, checkAddress } from "../connection/check-address.ts";

export interface ServerAddress {
  /** `host:port` or `[IPv6]:port`. */
  readonly address: string;
  /** Name that resolved to the address: the server's certificate states it instead of the address. */
  readonly name?: string;
}

/** Returns every IP address of a name. */
export type Resolve = (name: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

interface Name {
  readonly target: string;
  readonly name: string;
  readonly port: string;
  /** Result of the latest resolution that succeeded. */
  known: readonly ServerAddress[];
}

/** Servers that a configuration names: by address, and by `dns:NAME:PORT`, whose addresses change. */
export class ServerAddresses {
  readonly #fixed: readonly ServerAddress[];
  readonly #names: readonly Name[];
  readonly #resolve: Resolve;

  /** @throws MrlmError CONFIG_INVALID for an empty list and for an address of the wrong form */
  constructor(targets: readonly string[], resolve: Resolve = (name) => lookup(name, { all: true, order: "verbatim" })) {
    if (targets.length === 0) throw new MrlmError("CONFIG_INVALID", "No address of an environment server was given.");
    const unique = [...new Set(targets)];
    this.#fixed = unique.filter((target) => !isName(target)).map((target) => ({ address: checkAddress(target) }));
    this.#names = unique.filter(isName).map(parseName);
    this.#resolve = resolve;
  }

  /** The one server that is named, if its address never changes. */
  get single(): ServerAddress | undefined {
    return this.isFixed && this.#fixed.length === 1 ? this.#fixed[0] : undefined;
  }

  /** Names without a known address. */
  get unresolved(): string[] {
    return this.#names.filter(({ known }) => known.length === 0).map(({ target }) => target);
  }

  /** Whether the addresses never change. */
  get isFixed(): boolean {
    return this.#names.length === 0;
  }

  /**
   * Resolves the names again. A name that cannot be resolved keeps its earlier addresses: a failure of the name service removes no
   * server. Reports the failure of each name.
   */
  async resolve(onFailure: (error: MrlmError) => void): Promise<ServerAddress[]> {
    await Promise.all(
      this.#names.map(async (name) => {
        try {
          name.known = (await this.#resolve(name.name)).map(({ address, family }) => ({
            address: family === 6 ? `[${address}]:${name.port}` : `${address}:${name.port}`,
            name: name.name,
          }));
        } catch (cause) {
          const { code = String(cause) } = cause as NodeJS.ErrnoException;
          onFailure(
            new MrlmError("SERVER_UNAVAILABLE", `The name in ${name.target} cannot be resolved: ${code}.`, {
              hint: "Check the name, and that the name service answers.",
              isRetryable: false,
              cause,
            }),
          );
        }
      }),
    );
    const all = [...this.#fixed, ...this.#names.flatMap(({ known }) => known)];
    return [...new Map(all.toReversed().map((server) => [server.address, server])).values()].toReversed();
  }
}

function isName(target: string): boolean {
  return target.startsWith("dns:");
}

/** Parses `dns:NAME:PORT` and gRPC's longer form `dns:///NAME:PORT`. */
function parseName(target: string): Name {
  const address = target.replace(/^dns:(?:\/\/\/)?/, "");
  const [, name, port] = /^([^:/\s]+):(\d{1,5})$/.exec(address) ?? [];
  if (name === undefined || port === undefined)
    throw badAddress(target, "names no host and port", "dns:environments.example:50051");
  checkAddress(address);
  return { target, name, port, known: [] };
}
