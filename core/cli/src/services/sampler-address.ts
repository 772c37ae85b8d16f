import { isIP } from "node:net";
import { tlsFault } from "@mrlm/client";
import { clientIdentity } from "@mrlm/kit/access";
import type { SamplerFile } from "@mrlm/runtime";
import { forwardPort } from "@mrlm/server";
import { defined, type Logger, MrlmError } from "@mrlm/spec";
import type { SampleOptions } from "../declarations/sample.ts";
import { serverAccess } from "./server-access.ts";

/** Place of a sampler for the other processes of its run. */
type OfferedPlace = Pick<SamplerFile, "address" | "tls">;

/** Address at which a sampler is offered that itself listens on loopback. */
export interface SamplerAddress {
  /** Host of the place. */
  readonly host: string;
  /**
   * Offers a sampler. Rejects with PORT_IN_USE, with CONFIG_INVALID for an address that is not of this machine, and with TLS_FAILED for a certificate that the
   * processes of the run would refuse.
   * @param address `host:port` on loopback
   */
  offer(address: string): Promise<OfferedPlace>;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** Longest examination of the own certificate in milliseconds: a machine that starts a sampler is busy. */
const EXAMINATION_MS = 20_000;

/**
 * Checks the options, and opens the certificate. Without options the sampler is reached where it listens itself. Throws as `serverAccess` does, and USAGE for an
 * address that is no place.
 */
export function samplerAddress(options: Partial<SampleOptions>, logger: Logger): SamplerAddress {
  const { host = HOST, port = 0, tlsCert, tlsCa } = options;
  if (tlsCert === undefined && tlsCa !== undefined)
    throw new MrlmError("USAGE", "--tls-ca is the authority of a certificate: give --tls-cert and --tls-key too.");
  if (/^\[?(0\.0\.0\.0|[0:]*:)\]?$/.test(host))
    throw new MrlmError(
      "USAGE",
      `--host ${host} is every address of this machine: name one that the run can connect to.`,
    );
  const access = serverAccess({ ...options, host, hasOwnToken: true }, logger);
  const ca = tlsCa === undefined ? undefined : clientIdentity({ ca: tlsCa })().ca;
  const closing: (() => Promise<void>)[] = [];
  const { tls } = access;
  return {
    host,
    async offer(to) {
      if (options.host === undefined && options.port === undefined && tls === undefined) return { address: to };
      const bare = host.replace(/^\[(.*)\]$/, "$1");
      const forwarded = await forwardPort({ host: bare, port, to, ...defined({ tls }) });
      closing.unshift(() => forwarded.close());
      const address = `${isIP(bare) === 6 ? `[${bare}]` : bare}:${forwarded.port}`;
      if (tls === undefined) return { address };
      const trusted = ca === undefined ? {} : { ca };
      const fault = await tlsFault(address, trusted, EXAMINATION_MS);
      if (fault !== undefined)
        throw new MrlmError("TLS_FAILED", fault.message, {
          hint: "The processes of the run would refuse it. Give a --host that the certificate names, and the file of its authority as --tls-ca.",
        });
      return { address, tls: trusted };
    },
    async close() {
      for (const close of closing) await close();
      access.close();
    },
  };
}
