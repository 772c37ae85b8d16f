import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { Sampler } from "@mrlm/spec";
import {
  decodeSampleAdd,
  encodeSampleError,
  encodeSampleFinish,
  invalid,
  statusOfError,
  type engineProto as wire,
} from "@mrlm/wire";
import type { ServedEngine } from "./served-engine.ts";

type Call = ServerDuplexStream<wire.SampleRequest, wire.SampleResponse>;

/** Handles Sample: the sequences of one client. Results of one turn of the event loop share a message. */
export function serveSamples(engine: ServedEngine, call: Call): void {
  const running = new Map<bigint, AbortController>();
  let sampler: Sampler | undefined;
  let finished: wire.SampleFinish[] = [];

  const finish = (result: wire.SampleFinish): void => {
    running.delete(result.id);
    finished.push(result);
    if (finished.length > 1) return;
    setImmediate(() => {
      call.write({ tokens: [], finish: finished });
      finished = [];
    });
  };
  const start = (add: wire.SampleAdd, on: Sampler): void => {
    const controller = new AbortController();
    running.set(add.id, controller);
    on.sample(decodeSampleAdd(add), { signal: controller.signal }).then(
      (result) => finish(encodeSampleFinish(add.id, result)),
      (error: unknown) => finish(encodeSampleError(add.id, error)),
    );
  };
  const receive = async ({ open, add, cancel, barrier }: wire.SampleRequest): Promise<void> => {
    if (open !== undefined) sampler = await engine.sampler(open.modelId);
    if (sampler === undefined) throw invalid("a stream of samples does not begin with its model");
    for (const each of add) start(each, sampler);
    for (const id of cancel) running.get(id)?.abort();
    if (barrier) sampler.barrier();
  };
  const end = async (): Promise<void> => {
    await sampler?.close();
    setImmediate(() => call.end());
  };

  // Messages are handled in order, also while the sampler is being opened.
  let tail = Promise.resolve();
  const next = (work: () => Promise<void>): void => {
    tail = tail.then(work).catch((error: unknown) => void call.emit("error", statusOfError(error)));
  };
  call.on("data", (message: wire.SampleRequest) => next(() => receive(message)));
  call.on("end", () => next(end));
  call.on("cancelled", () => {
    for (const controller of running.values()) controller.abort();
    next(async () => sampler?.close());
  });
}
