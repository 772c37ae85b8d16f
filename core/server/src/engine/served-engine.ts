import type { ForwardBackwardOptions, ForwardBackwardResult, UnitGradients, UnitOutputs } from "@mrlm/spec";
import type { Engine, SamplerInfo } from "@mrlm/spec/host";

/** Loss function that the client computes. */
export type RemoteUnitLoss = (unitIndex: number, outputs: UnitOutputs) => Promise<UnitGradients>;

/** Engine of this process that can be served: its loss function may be asynchronous. */
export interface ServedEngine extends Engine {
  /** Describes the engine as a sampler. */
  describeSampler(): Promise<SamplerInfo>;
  /** Does the same as `forwardBackward`. Units whose losses are requested in one turn of the event loop form a micro-batch. If it rejects, no gradient was accumulated. */
  accumulate(
    options: Omit<ForwardBackwardOptions, "loss"> & { readonly loss: RemoteUnitLoss | readonly UnitGradients[] },
  ): Promise<ForwardBackwardResult>;
}
