import { EventEmitter } from "node:events";
import { answer, answerCall, CHANGED, type StoreCall, type StoreReply } from "./answer-call.ts";
import { StoreDatabase } from "./store-database.ts";
import type { StoreSettings } from "./store-settings.ts";

/** Connection of a store in this thread, with the interface of its worker. */
export class LocalPort extends EventEmitter<{ message: [StoreReply]; error: [unknown]; exit: [] }> {
  #database: StoreDatabase | undefined;

  constructor(settings: StoreSettings, now?: () => number) {
    super();
    this.#reply(() =>
      answer(0, () => {
        this.#database = new StoreDatabase(settings, now);
        this.#database.onChange(() => this.emit("message", { id: CHANGED }));
      }),
    );
  }

  /** Copies the call, as a worker would: its caller may change the arrays afterwards. */
  postMessage(call: StoreCall, transfer: ArrayBuffer[]): void {
    const copy = structuredClone(call, { transfer });
    this.#reply(() => answerCall(this.#database, copy));
  }

  async terminate(): Promise<void> {
    this.emit("exit");
  }

  #reply(work: () => StoreReply): void {
    queueMicrotask(() => this.emit("message", work()));
  }
}
