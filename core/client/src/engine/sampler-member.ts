import { defined, type Logger, type ModelId, MrlmError } from "@mrlm/spec";
import type { SampleResult, SamplerInfo, WeightsSource, WeightsUpdate } from "@mrlm/spec/host";
import { samplerInfoCodec, updateCodec, PROTOCOLS, SAMPLER_SERVICE } from "@mrlm/wire";
import { PoolMember } from "../connection/member-pool.ts";
import type { ClientTls } from "../connection/tls.ts";
import { EngineConnection, POOLED_SAMPLER } from "./engine-connection.ts";

/** Published weights of a model. */
export type PublishedVersion = Omit<WeightsUpdate, "source">;

export interface SamplerPlace {
  /** Name for people, unique in the pool. */
  readonly name: string;
  /** `host:port`. */
  readonly address: string;
  readonly token?: string;
  /** For a sampler behind TLS, `{}` if an authority that Node trusts has signed its certificate. Default: plain TCP. */
  readonly tls?: ClientTls;
  /** `host:port` at which the sampler reaches the trainer, where it is not the address that this process uses. */
  readonly trainer?: string;
}

/** Parts of the pool that a member uses. */
export interface MemberParts {
  /** Whether this process updates the samplers; otherwise another one does. */
  readonly updates: boolean;
  readonly logger: Logger;
  /** Pause before a lost sampler is tried again, in milliseconds. */
  readonly pauseMs: number;
  /** Newest published weights of every model. */
  wanted(): readonly PublishedVersion[];
  /** Place from which samplers read weights. */
  source(): WeightsSource | undefined;
  /** Throws SAMPLER_DIFFERS for a sampler that must not be used. */
  check(info: SamplerInfo): void;
}

/** Remedies for places that are not those of the sampler, by code. */
const ADVICE: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: " Another process listens there, or the place of the sampler is old: start mrlm sample again.",
  TLS_FAILED: " Start mrlm sample again, with the authority of its certificate as --tls-ca.",
};

/** Errors after which only another process at the address is used: the same one would fail again. */
const FINAL = new Set(["SAMPLER_DIFFERS", "SAMPLER_INVALID", "SAMPLER_PROBE_FAILED", "MESSAGE_INVALID"]);

/**
 * Sampler of a pool. It is in service while it answers and has proved its weights. After a fault it is out of service until it answers again, and after a broken contract until
 * another process answers at its address.
 */
export class SamplerMember extends PoolMember {
  readonly name: string;
  /** Streams that this process has open. */
  streams = 0;
  /** Whether it reads new weights. */
  isUpdating = false;
  readonly #place: SamplerPlace;
  readonly #parts: MemberParts;
  #connection: EngineConnection | undefined;
  #info: SamplerInfo | undefined;
  readonly #held = new Map<ModelId, { readonly version: number; readonly checksum: string }>();
  #refused: string | undefined;

  constructor(place: SamplerPlace, parts: MemberParts) {
    super();
    this.name = place.name;
    this.#place = place;
    this.#parts = parts;
  }

  get address(): string {
    return this.#place.address;
  }

  /** Latest description; `undefined` while the sampler is out of service. */
  get info(): SamplerInfo | undefined {
    return this.isServing ? this.#info : undefined;
  }

  /** Version of a model's weights that it has proved. */
  held(model: ModelId): { readonly version: number; readonly checksum: string } | undefined {
    return this.#held.get(model);
  }

  /** Connection of a sampler in service. Throws the fault of one that is not. */
  get connection(): EngineConnection {
    if (this.#connection === undefined || !this.isServing)
      throw new MrlmError("SAMPLER_UNAVAILABLE", `The sampler ${this.name} is out of service.`);
    return this.#connection;
  }

  /** Whether the sampler is in service on this connection. */
  uses(connection: EngineConnection): boolean {
    return this.isServing && this.#connection === connection;
  }

  /** Reads new weights, if there are any. */
  update(): void {
    if (!this.isServing || this.isUpdating) return;
    const { connection } = this;
    this.isUpdating = true;
    void this.#bringUpToDate(connection)
      .catch((error: unknown) => {
        if (this.uses(connection)) this.fail(error);
      })
      .finally(() => {
        this.isUpdating = false;
        this.changed();
      });
  }

  /** Has the sampler release the memory of the device, if it can and draws no sequence. */
  async sleep(): Promise<void> {
    if (this.isUpdating || this.info?.capabilities.sleeps !== true) return;
    try {
      await this.connection.unary(SAMPLER_SERVICE.sleep, {});
    } catch (error) {
      this.fail(error);
    }
  }

  /** Asks for the weights and the load again. */
  async refresh(): Promise<void> {
    try {
      this.#hold(samplerInfoCodec.decode(await this.connection.unary(SAMPLER_SERVICE.describe, {})));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Throws SAMPLER_INVALID for a result with other versions than the sampler had, or without proper log-probabilities. */
  checkResult({ versions, logprobs }: SampleResult, oldest: number, newest: number): void {
    if (!versions.every((version) => version >= oldest && version <= newest))
      throw new MrlmError(
        "SAMPLER_INVALID",
        `The sampler ${this.name} returned tokens of version ${versions.find((version) => version < oldest || version > newest)}, where it had ${oldest}${newest === oldest ? "" : ` to ${newest}`}.`,
      );
    if (!logprobs.every((logprob) => logprob <= 1e-3))
      throw new MrlmError("SAMPLER_INVALID", `The sampler ${this.name} returned log-probabilities that are none.`);
  }

  protected override async attempt(): Promise<number> {
    const { address, token, tls } = this.#place;
    let connection: EngineConnection | undefined;
    let instanceId: string | undefined;
    try {
      connection = new EngineConnection(address, {
        kind: POOLED_SAMPLER,
        lost: this.closing,
        ...defined({ token, tls }),
      });
      const message = await connection.unary(SAMPLER_SERVICE.describe, {});
      ({ instanceId } = message);
      if (instanceId === this.#refused) return this.#parts.pauseMs;
      connection.bindTo(instanceId);
      if (message.protocolMajor !== PROTOCOLS.sampler.major)
        throw new MrlmError(
          "SAMPLER_DIFFERS",
          `The sampler ${this.name} uses protocol ${message.protocolMajor}, this client uses ${PROTOCOLS.sampler.major}.`,
        );
      const info = samplerInfoCodec.decode(message);
      this.#parts.check(info);
      this.#held.clear();
      this.#hold(info);
      await this.#bringUpToDate(connection);
      this.#connection = connection;
      const fault = this.serve();
      this.#parts.logger.info(`sampler ${this.name} at ${this.address} serves`);
      // Weights may have been published while the last ones were read.
      this.update();
      throw await fault;
    } catch (error) {
      if (!this.closing.aborted) this.#report(connection?.errorOf(error) ?? error, instanceId);
    } finally {
      connection?.close();
    }
    return this.#parts.pauseMs;
  }

  async #bringUpToDate(connection: EngineConnection): Promise<void> {
    for (;;) {
      const source = this.#source();
      const missing = this.#parts.wanted().find(({ model, version, checksum }) => {
        const held = this.#held.get(model);
        return held?.version !== version || held.checksum !== checksum;
      });
      if (!this.#parts.updates || source === undefined || missing === undefined) return;
      try {
        const request = updateCodec.request.encode({ ...missing, source });
        const { version, checksum } = updateCodec.response.decode(
          await connection.unary(SAMPLER_SERVICE.update, request),
        );
        if (version !== missing.version)
          throw new MrlmError(
            "SAMPLER_INVALID",
            `The sampler ${this.name} has version ${version} of "${missing.model}" after an update to ${missing.version}.`,
          );
        if (checksum !== missing.checksum && this.#info?.capabilities.proof !== "probe")
          throw new MrlmError(
            "SAMPLER_INVALID",
            `The sampler ${this.name} has other weights of "${missing.model}" than version ${version} after an update.`,
          );
        this.#held.set(missing.model, missing);
      } catch (error) {
        // The trainer has published again: the next round reads the newest.
        const isOld = !this.#parts.wanted().includes(missing);
        if (!(isOld && MrlmError.hasCode(error, "WEIGHTS_VERSION"))) throw error;
      }
    }
  }

  /** Place of the trainer, as the sampler reaches it. */
  #source(): WeightsSource | undefined {
    const source = this.#parts.source();
    const { trainer } = this.#place;
    return source?.kind === "trainer" && trainer !== undefined ? { ...source, address: trainer } : source;
  }

  #hold(info: SamplerInfo): void {
    this.#info = info;
    for (const { model, version, checksum } of info.models) this.#held.set(model, { version, checksum });
  }

  #report(error: unknown, instanceId: string | undefined): void {
    const { code, message } = MrlmError.isInstance(error)
      ? error
      : { code: "SAMPLER_UNAVAILABLE", message: (error as Error).message };
    if (FINAL.has(code)) this.#refused = instanceId;
    if (this.reported === code) return;
    this.reported = code;
    this.#parts.logger.warn(
      `sampler ${this.name} at ${this.address} is out of service: [${code}] ${message}${ADVICE[code] ?? ""}`,
    );
  }
}
