import { pause } from "./aborts.ts";

/** Part that a pool uses while it serves. It is tried until it serves, and again after each loss, until it is closed. */
export abstract class PoolMember {
  /** Latest fault that was reported since the member served. It is reported once. */
  protected reported: string | undefined;
  /** Ends the waits for a change. */
  protected changed: () => void = () => undefined;
  readonly #closing = new AbortController();
  /** Ends the service; `undefined` while the member is out of service. */
  #leave: ((fault: unknown) => void) | undefined;
  #running: Promise<void> | undefined;

  get isServing(): boolean {
    return this.#leave !== undefined;
  }

  /** Aborted when the member is closed. */
  protected get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Begins the attempts. @param changed called when the member changes its state */
  start(changed: () => void): void {
    this.changed = changed;
    this.#running = this.#run();
  }

  /** Takes the member out of service, if it is in service. */
  fail(fault?: unknown): void {
    this.#leave?.(fault);
    this.#leave = undefined;
    this.changed();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.fail();
    await this.#running;
  }

  /** Connects the member, and serves until it is lost. @returns pause before the next attempt in milliseconds */
  protected abstract attempt(): Promise<number>;

  /** Puts the member in service, unless it has been closed. Resolves with the fault that ends the service. */
  protected serve(): Promise<unknown> {
    this.closing.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#leave = resolve;
    this.reported = undefined;
    this.changed();
    return promise;
  }

  async #run(): Promise<void> {
    while (!this.closing.aborted) {
      const pauseMs = await this.attempt();
      await pause(pauseMs, [this.closing], "The pause of a member").catch(() => undefined);
    }
  }
}

/** Members by name, and the calls that wait until one of them changes. */
export class MemberPool<Member extends PoolMember> {
  readonly #members = new Map<string, Member>();
  readonly #closing = new AbortController();
  #change = Promise.withResolvers<void>();

  /** Aborted when the pool is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get all(): Member[] {
    return [...this.#members.values()];
  }

  get serving(): Member[] {
    return this.all.filter(({ isServing }) => isServing);
  }

  get(name: string): Member | undefined {
    return this.#members.get(name);
  }

  /** Adds a member and starts it. */
  add(name: string, member: Member): void {
    this.#members.set(name, member);
    member.start(() => this.changed());
  }

  /** Closes a member, if there is one of this name. */
  async remove(name: string): Promise<void> {
    const member = this.#members.get(name);
    this.#members.delete(name);
    await member?.close();
  }

  /** Ends the present waits for a change. */
  changed(): void {
    // The end of the pool rejects the waits; the ends of its members do not resolve them before.
    if (this.closing.aborted) return;
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  /** Waits until a member changes its state, at most for `milliseconds`. @throws MrlmError when a signal is aborted, or the pool closed */
  async waitForChange(milliseconds: number, signals: readonly AbortSignal[], what: string): Promise<void> {
    const over = new AbortController();
    const wait = pause(Math.max(0, milliseconds), [...signals, this.#closing.signal, over.signal], what);
    await Promise.race([this.#change.promise, wait]).finally(() => over.abort());
  }

  /** Closes all members. @param reason error of the waits that this ends */
  async close(reason?: Error): Promise<void> {
    this.#closing.abort(reason);
    await Promise.all(this.all.map((member) => member.close()));
  }
}
