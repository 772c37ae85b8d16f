import { defined, type Logger, type ModelId, MrlmError } from "@mrlm/spec";
import type { EngineInfo, SamplerInfo, WeightsSource } from "@mrlm/spec/host";
import { samplerInfoCodec, SAMPLER_SERVICE } from "@mrlm/wire";
import { pause } from "../connection/aborts.ts";
import { MemberPool } from "../connection/member-pool.ts";
import type { EngineConnection } from "./engine-connection.ts";
import { PoolLink } from "./pool-link.ts";
import type { SampleLink } from "./remote-sampler.ts";
import { type PublishedVersion, SamplerMember, type SamplerPlace } from "./sampler-member.ts";

export interface SamplerPoolOptions {
  readonly logger: Logger;
  /** Whether the run promises equal bits: samplers must compute as the trainer does. */
  readonly exact: boolean;
  /** Whether samplers must have exactly the published weights; default: `exact`. */
  readonly newest?: boolean;
  /** Whether samplers release their memory while the trainer learns, as in runs whose play waits for it; default false. */
  readonly sleeps?: boolean;
  /** Whether the trainer samples too while other samplers can: where it has nothing else to do. */
  readonly trainerSamples: boolean;
  /** Whether this process updates the samplers; default true. One process of a run does. */
  readonly updates?: boolean;
  /** Pause before a lost sampler is tried again, in milliseconds; default 1,000. */
  readonly pauseMs?: number;
  /** Longest wait of a stream for a sampler where none serves, in milliseconds; default 0. The trainer samples after it. */
  readonly waitMs?: number;
  /** Aborted to end these waits; default: never. */
  readonly waitEnd?: AbortSignal;
}

/** Longest wait of a stream for samplers that read new weights, in milliseconds. The trainer samples after it. */
const UPDATE_WAIT_MS = 5_000;

/**
 * Samplers beside that of the trainer. Each published version is sent to all of them. A stream of sequences stays on one sampler: the one with the fewest streams
 * of those with the needed weights. When it fails, its unfinished waves are sampled by another one, and by the trainer where there is none.
 */
export class SamplerPool {
  readonly #options: Required<SamplerPoolOptions>;
  readonly #members = new MemberPool<SamplerMember>();
  readonly #published = new Map<ModelId, PublishedVersion>();
  /** Places that were added before the trainer was known, with which samplers are compared. */
  #early: SamplerPlace[] = [];
  #source: WeightsSource | undefined;
  #trainer: EngineInfo | undefined;
  #trainerStreams = 0;
  /** Pause of all streams that wait for a sampler; `undefined` while none waits. */
  #lull: Promise<void> | undefined;
  /** Reports about the present outage of all samplers. */
  readonly #reported = new Set<"wait" | "trainer">();

  constructor(options: SamplerPoolOptions) {
    const waitEnd = new AbortController().signal;
    const { exact: newest } = options;
    this.#options = { updates: true, newest, sleeps: false, pauseMs: 1_000, waitMs: 0, waitEnd, ...options };
  }

  /** Names the trainer, from which samplers read weights. Called by `connectEngine`. */
  attach({ address, token }: { readonly address: string; readonly token?: string }, info: EngineInfo): void {
    this.#source = { kind: "trainer", address, ...defined({ token }) };
    this.#trainer = info;
    for (const place of this.#early.splice(0)) this.add(place);
  }

  /** Adds a sampler, which is used as soon as it has the weights. A place with a known name replaces another one of this name. */
  add(place: SamplerPlace): void {
    if (this.#members.closing.aborted) return;
    void this.remove(place.name);
    if (this.#trainer === undefined) return void this.#early.push(place);
    const { updates, logger, pauseMs } = this.#options;
    const member = new SamplerMember(place, {
      ...{ updates, logger, pauseMs },
      wanted: () => [...this.#published.values()],
      source: () => this.#source,
      check: (info) => this.#check(place.name, info),
    });
    this.#members.add(place.name, member);
  }

  async remove(name: string): Promise<void> {
    this.#early = this.#early.filter((place) => place.name !== name);
    await this.#members.remove(name);
  }

  /** Samplers in service, by name. */
  serving(): readonly { readonly name: string; readonly address: string; readonly info: SamplerInfo }[] {
    return this.#members.serving.map(({ name, address, info }) => ({ name, address, info: info as SamplerInfo }));
  }

  /** Reports a publication of the trainer. */
  published(version: PublishedVersion): void {
    this.#published.set(version.model, version);
    for (const member of this.#members.all) member.update();
  }

  /** Has samplers release their memory before the trainer learns. They get it back for the next sequence or update. */
  async sleep(): Promise<void> {
    if (this.#options.sleeps) await Promise.all(this.#members.serving.map((member) => member.sleep()));
  }

  /** Returns the way from streams of a model to the samplers. @param trainer connection to the trainer */
  linkOf(model: ModelId, trainer: EngineConnection): SampleLink {
    return new PoolLink({
      model,
      trainer,
      choose: () => this.#choose(model, trainer),
      leaveTrainer: () => this.#trainerStreams--,
      newestOf: (version) => (this.#options.newest ? version : (this.#published.get(model)?.version ?? Infinity)),
    });
  }

  async close(): Promise<void> {
    await this.#members.close();
  }

  /** Returns the sampler of a stream, which it counts; `undefined` for that of the trainer. */
  async #choose(model: ModelId, trainer: EngineConnection): Promise<SamplerMember | undefined> {
    const { updates, trainerSamples, waitEnd } = this.#options;
    const began = performance.now();
    while (!this.#members.closing.aborted) {
      const waitMs = waitEnd.aborted ? 0 : this.#options.waitMs;
      if (this.#members.all.length === 0 && waitMs === 0) break;
      const wanted = await this.#wanted(model, trainer);
      if (wanted === undefined) break;
      if (!updates) await Promise.all(this.#members.serving.map((member) => member.refresh()));
      const fitting = this.#members.serving.filter((member) => this.#fits(member, wanted));
      const [first] = fitting.toSorted((one, other) => one.streams - other.streams || load(one) - load(other));
      if (first !== undefined) {
        this.#reported.clear();
        if (trainerSamples && this.#trainerStreams < first.streams) break;
        first.streams++;
        return first;
      }
      const isUpdating = this.#members.serving.some((member) => member.isUpdating);
      if (performance.now() - began >= (isUpdating ? Math.max(waitMs, UPDATE_WAIT_MS) : waitMs)) {
        if (waitMs > 0) this.#warnOnce("trainer", `no sampler served within ${waitMs / 1000} s: the engine samples`);
        break;
      }
      // The end of the pool ends this wait too.
      if (isUpdating)
        await this.#members.waitForChange(UPDATE_WAIT_MS, [], "The wait for weights").catch(() => undefined);
      else await this.#rest(trainer);
    }
    this.#trainerStreams++;
    return undefined;
  }

  /** Pauses until samplers are looked for again. Rejects where the trainer has ended: nothing would learn from the sequences. */
  async #rest(trainer: EngineConnection): Promise<void> {
    await trainer.reach();
    const { pauseMs, waitMs, waitEnd } = this.#options;
    this.#warnOnce(
      "wait",
      `no sampler serves: sequences wait for one, up to ${waitMs / 1000} s; then the engine samples`,
    );
    this.#lull ??= pause(pauseMs, [this.#members.closing, waitEnd], "The wait for a sampler")
      .catch(() => undefined)
      .finally(() => (this.#lull = undefined));
    await this.#lull;
  }

  #warnOnce(report: "wait" | "trainer", text: string): void {
    if (!this.#reported.has(report)) this.#options.logger.warn(text);
    this.#reported.add(report);
  }

  /** Returns the weights to sample with; `undefined` for a model that is not published, which the trainer alone has. */
  async #wanted(
    model: ModelId,
    trainer: EngineConnection,
  ): Promise<Pick<PublishedVersion, "version" | "checksum" | "model"> | undefined> {
    if (this.#options.updates) return this.#published.get(model);
    const { models } = samplerInfoCodec.decode(await trainer.unary(SAMPLER_SERVICE.describe, {}));
    return models.find((each) => each.model === model);
  }

  #fits(
    member: SamplerMember,
    { model, version, checksum }: Pick<PublishedVersion, "version" | "checksum" | "model">,
  ): boolean {
    const held = member.held(model);
    if (held === undefined) return false;
    return !this.#options.newest || (held.version === version && held.checksum === checksum);
  }

  #check(name: string, info: SamplerInfo): void {
    const trainer = this.#trainer;
    if (!this.#options.exact || trainer === undefined) return;
    const differences = [
      ["is deterministic", trainer.deterministic, info.capabilities.deterministic],
      ["device", trainer.deviceName, info.deviceName],
      ["torch", trainer.versions.torch, info.software["torch"]],
      ["threads", trainer.threads, info.threads],
    ].filter(([, expected, found]) => expected !== found);
    if (differences.length === 0) return;
    const list = differences.map(([what, expected, found]) => `${what}: ${found}, the trainer: ${expected}`).join("; ");
    throw new MrlmError("SAMPLER_DIFFERS", `The sampler ${name} would compute other bits than the trainer (${list}).`);
  }
}

function load({ info }: SamplerMember): number {
  return info?.runningTokens ?? 0;
}
