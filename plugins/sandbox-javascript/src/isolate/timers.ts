// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.

export interface Timers {
  /** Runs the first due callback; `ran` if there was one. `nextMs`: time until the next one; -1 if there is none. */
  tick(): { readonly ran: boolean; readonly nextMs: number };
}

/** Installs setTimeout and the other timer functions. Each call of `tick` by the parent runs one callback. */
export function installTimers(onError: (error: unknown) => void): Timers {
  interface Timer {
    readonly id: number;
    readonly callback: (...args: unknown[]) => void;
    readonly args: unknown[];
    due: number;
    readonly everyMs: number | undefined;
  }
  const { now } = Date;
  const { apply } = Reflect;
  const timers: Timer[] = [];
  const { defineProperty } = Object;
  const then = Promise.prototype.then;
  const resolved = Promise.resolve();
  const LONGEST_MS = 2 ** 31 - 1;
  let last = 0;

  function add(callback: unknown, delay: unknown, args: unknown[], isRepeated: boolean): number {
    if (typeof callback !== "function") throw new TypeError("The callback of a timer must be a function.");
    const wanted = Math.trunc(Number(delay));
    const ms = wanted >= 1 && wanted <= LONGEST_MS ? wanted : 1;
    last += 1;
    timers[timers.length] = {
      id: last,
      callback: callback as never,
      args,
      due: now() + ms,
      everyMs: isRepeated ? ms : undefined,
    };
    return last;
  }

  /** Returns the index of the timer that is due first; of equal ones, the one that was set first. */
  function first(): number {
    let found = -1;
    for (let i = 0; i < timers.length; i++)
      if (found < 0 || (timers[i] as Timer).due < (timers[found] as Timer).due) found = i;
    return found;
  }

  function remove(at: number): void {
    for (let i = at; i < timers.length - 1; i++) timers[i] = timers[i + 1] as Timer;
    timers.length -= 1;
  }

  function clear(id: unknown): void {
    for (let i = 0; i < timers.length; i++) if ((timers[i] as Timer).id === id) return remove(i);
  }

  const globals = {
    setTimeout: (callback: unknown, delay?: unknown, ...args: unknown[]) => add(callback, delay, args, false),
    setInterval: (callback: unknown, delay?: unknown, ...args: unknown[]) => add(callback, delay, args, true),
    setImmediate: (callback: unknown, ...args: unknown[]) => {
      const id = add(callback, 1, args, false);
      (timers[timers.length - 1] as Timer).due -= 1;
      return id;
    },
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
    queueMicrotask: (callback: () => void) => {
      void apply(then, resolved, [() => callback()]);
    },
  };
  for (const [name, value] of Object.entries(globals))
    defineProperty(globalThis, name, { value, configurable: true, enumerable: false, writable: true });

  return {
    tick() {
      const at = first();
      const ran = at >= 0 && (timers[at] as Timer).due <= now();
      if (ran) {
        const timer = timers[at] as Timer;
        if (timer.everyMs === undefined) remove(at);
        else timer.due = now() + timer.everyMs;
        try {
          apply(timer.callback, undefined, timer.args);
        } catch (error) {
          onError(error);
        }
      }
      const next = first();
      return { ran, nextMs: next < 0 ? -1 : Math.max(0, (timers[next] as Timer).due - now()) };
    },
  };
}
