// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.

/** Makes the module `events`. */
export function makeEvents(): unknown {
  type Listener = (...args: unknown[]) => unknown;
  interface Entry {
    readonly listener: Listener;
    readonly isOnce: boolean;
  }

  class EventEmitter {
    static defaultMaxListeners = 10;
    static EventEmitter = EventEmitter;
    #entries = new Map<PropertyKey, readonly Entry[]>();
    #most = EventEmitter.defaultMaxListeners;

    #add(name: PropertyKey, listener: unknown, isOnce: boolean, isFirst: boolean): this {
      if (typeof listener !== "function") {
        const error = new TypeError(
          `The "listener" argument must be of type function. Received ${listener === null ? "null" : typeof listener}`,
        );
        throw Object.assign(error, { code: "ERR_INVALID_ARG_TYPE" });
      }
      if (this.#entries.has("newListener")) this.emit("newListener", name, listener);
      const old = this.#entries.get(name) ?? [];
      const entry = { listener: listener as Listener, isOnce };
      this.#entries.set(name, isFirst ? [entry, ...old] : [...old, entry]);
      return this;
    }

    #remove(name: PropertyKey, entry: Entry): void {
      const left = (this.#entries.get(name) ?? []).filter((other) => other !== entry);
      if (left.length === 0) this.#entries.delete(name);
      else this.#entries.set(name, left);
      if (this.#entries.has("removeListener")) this.emit("removeListener", name, entry.listener);
    }

    on(name: PropertyKey, listener: unknown): this {
      return this.#add(name, listener, false, false);
    }
    addListener(name: PropertyKey, listener: unknown): this {
      return this.#add(name, listener, false, false);
    }
    once(name: PropertyKey, listener: unknown): this {
      return this.#add(name, listener, true, false);
    }
    prependListener(name: PropertyKey, listener: unknown): this {
      return this.#add(name, listener, false, true);
    }
    prependOnceListener(name: PropertyKey, listener: unknown): this {
      return this.#add(name, listener, true, true);
    }
    off(name: PropertyKey, listener: unknown): this {
      const entry = this.#entries.get(name)?.findLast((other) => other.listener === listener);
      if (entry !== undefined) this.#remove(name, entry);
      return this;
    }
    removeListener(name: PropertyKey, listener: unknown): this {
      return this.off(name, listener);
    }
    removeAllListeners(name?: PropertyKey): this {
      if (name === undefined) this.#entries.clear();
      else this.#entries.delete(name);
      return this;
    }
    emit(name: PropertyKey, ...args: unknown[]): boolean {
      const entries = this.#entries.get(name);
      if (entries === undefined) {
        if (name !== "error") return false;
        if (args[0] instanceof Error) throw args[0];
        throw Object.assign(new Error(`Unhandled error. (${String(args[0])})`), {
          code: "ERR_UNHANDLED_ERROR",
          context: args[0],
        });
      }
      for (const entry of entries) {
        if (entry.isOnce) this.#remove(name, entry);
        Reflect.apply(entry.listener, this, args);
      }
      return true;
    }
    listenerCount(name: PropertyKey, listener?: unknown): number {
      return (this.#entries.get(name) ?? []).filter((entry) => listener === undefined || entry.listener === listener)
        .length;
    }
    listeners(name: PropertyKey): Listener[] {
      return (this.#entries.get(name) ?? []).map(({ listener }) => listener);
    }
    rawListeners(name: PropertyKey): Listener[] {
      return this.listeners(name);
    }
    eventNames(): PropertyKey[] {
      return [...this.#entries.keys()];
    }
    setMaxListeners(most: number): this {
      this.#most = most;
      return this;
    }
    getMaxListeners(): number {
      return this.#most;
    }
  }

  /** Resolves with the arguments of the next event of this name; rejects for an error event. */
  const once = (emitter: EventEmitter, name: PropertyKey): Promise<unknown[]> =>
    new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        emitter.off(name, succeed);
        reject(error);
      };
      const succeed = (...args: unknown[]): void => {
        emitter.off("error", fail);
        resolve(args);
      };
      emitter.once(name, succeed);
      if (name !== "error") emitter.once("error", fail);
    });
  return Object.assign(EventEmitter, { once });
}
