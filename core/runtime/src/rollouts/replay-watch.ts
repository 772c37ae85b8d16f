import type { ErrorCode, IterationReport, Logger, MrlmError } from "@mrlm/spec";

/** Time between two warnings, in milliseconds. */
const NOTICE_MS = 10_000;

/** Counts the sessions that rollouts open again, by the code of the loss or refusal, and warns of them. */
export class ReplayWatch {
  readonly #logger: Logger;
  readonly #unreported = new Map<ErrorCode, number>();
  readonly #unwarned = new Map<ErrorCode, number>();
  #latest: MrlmError | undefined;
  #warnedAt = -NOTICE_MS;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Counts a session. Many sessions that are lost together give one warning. */
  note(error: MrlmError): void {
    for (const counts of [this.#unreported, this.#unwarned]) counts.set(error.code, (counts.get(error.code) ?? 0) + 1);
    this.#latest = error;
    if (performance.now() - this.#warnedAt >= NOTICE_MS) this.flush();
  }

  /** Warns of sessions that no warning has named yet. */
  flush(): void {
    if (this.#latest === undefined || this.#unwarned.size === 0) return;
    this.#logger.warn("Sessions of episodes were lost or refused; they are opened again.", {
      ...Object.fromEntries(this.#unwarned),
      latest: this.#latest.message,
    });
    this.#unwarned.clear();
    this.#warnedAt = performance.now();
  }

  /** Returns the report with `replays/CODE` for the sessions since the last report. */
  addTo(report: IterationReport): IterationReport {
    if (this.#unreported.size === 0) return report;
    const counts = Array.from(this.#unreported, ([code, count]) => [`replays/${code}`, count] as const);
    this.#unreported.clear();
    return { ...report, metrics: { ...report.metrics, ...Object.fromEntries(counts) } };
  }
}
