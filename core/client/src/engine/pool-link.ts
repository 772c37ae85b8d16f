import type { ClientDuplexStream, MethodDefinition } from "@grpc/grpc-js";
import { type ModelId, MrlmError } from "@mrlm/spec";
import type { SampleResult } from "@mrlm/spec/host";
import type { Channel } from "../connection/channel.ts";
import type { EngineConnection } from "./engine-connection.ts";
import type { SampleLink } from "./remote-sampler.ts";
import type { SamplerMember } from "./sampler-member.ts";

/** Codes of faults of a sampler. Other errors are those of a request, which every sampler refuses. */
const FAULTS = new Set([
  "CANCELLED",
  "INTERNAL",
  "ENGINE_FAILED",
  "ENGINE_UNAVAILABLE",
  "MESSAGE_INVALID",
  "MODEL_NOT_FOUND",
  "OUT_OF_MEMORY",
  "SAMPLER_INVALID",
  "SAMPLER_PROBE_FAILED",
  "SAMPLER_UNAVAILABLE",
  "UNAUTHENTICATED",
]);

/** Parts of a pool that a link uses. */
export interface PoolLinkParts {
  readonly model: ModelId;
  readonly trainer: EngineConnection;
  /** Returns the sampler of the next stream, which is counted from then on; `undefined` for that of the trainer. */
  choose(): Promise<SamplerMember | undefined>;
  /** Ends the count of a stream of the trainer. */
  leaveTrainer(): void;
  /** Returns the newest version that a stream may sample with which was opened at a version. */
  newestOf(version: number): number;
}

/** Sampler on which a stream was opened, and the version of its weights then. */
interface StreamPlace {
  readonly member: SamplerMember;
  readonly connection: EngineConnection;
  readonly version: number;
}

/** Way from the streams of a model to the samplers of a pool. A fault takes a sampler out of service, and another one samples the waves again. */
export class PoolLink implements SampleLink {
  readonly #parts: PoolLinkParts;
  readonly #places = new WeakMap<Channel, StreamPlace>();
  readonly #ofTrainer = new WeakSet<Channel>();

  constructor(parts: PoolLinkParts) {
    this.#parts = parts;
  }

  async reach(): Promise<Channel> {
    for (;;) {
      const member = await this.#parts.choose();
      if (member === undefined) return await this.#reachTrainer();
      try {
        const version = member.held(this.#parts.model)?.version ?? 0;
        const { connection } = member;
        const channel = await connection.reach();
        this.#places.set(channel, { member, connection, version });
        return channel;
      } catch (error) {
        member.streams--;
        member.fail(error);
      }
    }
  }

  open<Request, Response>(
    channel: Channel,
    method: MethodDefinition<Request, Response>,
  ): ClientDuplexStream<Request, Response> {
    return (this.#places.get(channel)?.connection ?? this.#parts.trainer).open(channel, method);
  }

  confirm(channel: Channel): void {
    if (!this.#places.has(channel)) this.#parts.trainer.confirm(channel);
  }

  lost(channel: Channel, loss: unknown): void {
    const place = this.#places.get(channel);
    if (place === undefined) this.#parts.trainer.lost(channel, loss);
    else if (place.member.uses(place.connection)) place.member.fail(loss);
  }

  failed(channel: Channel, error: unknown): boolean {
    const place = this.#places.get(channel);
    if (place === undefined) return false;
    const { member, connection } = place;
    // The end of a sampler closed its connection, which cancels its streams.
    if (!member.uses(connection)) return true;
    if (MrlmError.isInstance(error) && !FAULTS.has(error.code)) return false;
    // A server that stops cancels the streams of its clients.
    const isStopped = MrlmError.hasCode(error, "CANCELLED");
    member.fail(isStopped ? new MrlmError("SAMPLER_UNAVAILABLE", `The sampler ${member.name} stopped.`) : error);
    return true;
  }

  check(channel: Channel, result: SampleResult): void {
    const place = this.#places.get(channel);
    place?.member.checkResult(result, place.version, this.#parts.newestOf(place.version));
  }

  errorOf(error: unknown): Error {
    return this.#parts.trainer.errorOf(error);
  }

  released(channel: Channel): void {
    const place = this.#places.get(channel);
    if (place !== undefined) place.member.streams--;
    else if (this.#ofTrainer.has(channel)) this.#parts.leaveTrainer();
  }

  async #reachTrainer(): Promise<Channel> {
    try {
      const channel = await this.#parts.trainer.reach();
      this.#ofTrainer.add(channel);
      return channel;
    } catch (error) {
      this.#parts.leaveTrainer();
      throw error;
    }
  }
}
