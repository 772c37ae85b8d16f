import type { ForwardBackwardResult, IterationReport, ModelId } from "@mrlm/spec";

/** Counts the passes of an iteration in which memory ran out and which the engine repeated with smaller micro-batches. */
export class MemoryWatch {
  /** Retries since the last report and the token budget after the last retry, by model. */
  readonly #shortages = new Map<ModelId, { readonly retries: number; readonly tokens: number }>();

  note(model: ModelId, { memoryRetries, microBatchTokens }: ForwardBackwardResult): void {
    if (memoryRetries === 0) return;
    this.#shortages.set(model, {
      retries: (this.#shortages.get(model)?.retries ?? 0) + memoryRetries,
      tokens: microBatchTokens,
    });
  }

  /** Returns the report with `memory/retries` and `memory/micro_batch_tokens` of each model whose passes ran out of memory, and a notice for it. */
  addTo(report: IterationReport): IterationReport {
    if (this.#shortages.size === 0) return report;
    const shortages = [...this.#shortages];
    this.#shortages.clear();
    return {
      ...report,
      metrics: {
        ...report.metrics,
        "memory/retries": shortages.reduce((sum, [, { retries }]) => sum + retries, 0),
        "memory/micro_batch_tokens": Math.min(...shortages.map(([, { tokens }]) => tokens)),
      },
      notices: [
        ...(report.notices ?? []),
        ...shortages.map(
          ([model, { tokens }]) =>
            `Memory ran out in a pass of ${model}: it was done again, and micro-batches have at most ${tokens} tokens from now on. The gradient is the same; set model.micro_batch_tokens to start with that.`,
        ),
      ],
    };
  }
}
