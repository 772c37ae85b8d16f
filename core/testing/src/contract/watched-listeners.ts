import { EventEmitter, getEventListeners } from "node:events";

/** Listeners of one event of one emitter that were added and not removed. */
export interface LeftListeners {
  readonly name: string;
  readonly count: number;
  /** Stack of an addition. */
  readonly stack: string;
}

type Event = string | symbol;
type Add = (this: object, event: Event, ...rest: unknown[]) => unknown;

/** Methods by which all listeners are added: the others call them. */
const METHODS = [
  [EventEmitter.prototype, "addListener"],
  [EventEmitter.prototype, "on"],
  [EventEmitter.prototype, "prependListener"],
  [EventTarget.prototype, "addEventListener"],
] as const;

/** Watches the listeners that code of this process adds to emitters and event targets, whichever they are. */
export class WatchedListeners {
  /** Number of listeners of an event before the first addition, and the stack of that. */
  readonly #added = new WeakMap<object, Map<Event, { readonly before: number; readonly stack: string }>>();
  readonly #targets = new Set<WeakRef<object>>();
  readonly #originals = METHODS.map(([owner, method]) => (owner as unknown as Record<string, Add>)[method] as Add);

  /** Begins to watch. */
  start(): void {
    const note = (target: object, event: Event): void => this.#note(target, event);
    METHODS.forEach(([owner, method], index) => {
      const original = this.#originals[index] as Add;
      define(owner, method, function (this: object, event, ...rest) {
        note(this, event);
        return Reflect.apply(original, this, [event, ...rest]);
      });
    });
  }

  stop(): void {
    METHODS.forEach(([owner, method], index) => define(owner, method, this.#originals[index] as Add));
  }

  /** Lists the events of targets that still exist with `least` or more listeners than before. */
  left(least: number): LeftListeners[] {
    return [...this.#targets].flatMap((reference) => {
      const target = reference.deref();
      const events = target === undefined ? [] : [...(this.#added.get(target) ?? [])];
      return events.flatMap(([event, { before, stack }]) => {
        const count = countListeners(target as object, event) - before;
        const name = `listener of "${String(event)}" of ${(target as object).constructor.name}`;
        return count < least ? [] : [{ name, count, stack }];
      });
    });
  }

  #note(target: object, event: Event): void {
    let events = this.#added.get(target);
    if (events === undefined) {
      events = new Map();
      this.#added.set(target, events);
      this.#targets.add(new WeakRef(target));
    }
    if (!events.has(event))
      events.set(event, { before: countListeners(target, event), stack: new Error("listener").stack ?? "" });
  }
}

function define(owner: object, method: string, value: Add): void {
  Object.defineProperty(owner, method, { ...Object.getOwnPropertyDescriptor(owner, method), value });
}

function countListeners(target: object, event: Event): number {
  return target instanceof EventEmitter
    ? target.listenerCount(event)
    : getEventListeners(target as EventTarget, event as string).length;
}
