import type { Engine, ForwardBackwardOptions, ForwardBackwardResult, UnitGradients, UnitOutputs } from "@mrlm/spec";

/** A loss whose answers come from elsewhere. */
export type RemoteUnitLoss = (unitIndex: number, outputs: UnitOutputs) => Promise<UnitGradients>;

/** An engine of this process that can be served: its loss may be asynchronous, since it is computed by the client. */
export interface ServedEngine extends Engine {
  /** As `forwardBackward`. Units whose losses are asked for in one turn of the event loop form a micro-batch. Nothing has accumulated when it rejects. */
  accumulate(
    options: Omit<ForwardBackwardOptions, "loss"> & { readonly loss: RemoteUnitLoss | readonly UnitGradients[] },
  ): Promise<ForwardBackwardResult>;
}
