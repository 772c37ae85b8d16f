import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { SampledChunk, Sampler, SamplerHost } from "@mrlm/spec/host";
import {
  sampleAddCodec,
  sampleFinishCodec,
  sampleTokensCodec,
  invalid,
  statusOfError,
  type samplerProto as wire,
} from "@mrlm/wire";

type Call = ServerDuplexStream<wire.SampleRequest, wire.SampleResponse>;

/** Handles Sample: the sequences of one client. Tokens and results of one turn of the event loop share a message. */
export function serveSamples(host: Pick<SamplerHost, "sampler">, call: Call): void {
  const running = new Map<bigint, AbortController>();
  let sampler: Sampler | undefined;
  let next: wire.SampleResponse | undefined;

  /** Returns the next message, which is written after this turn of the event loop. */
  const message = (): wire.SampleResponse => {
    if (next !== undefined) return next;
    const made: wire.SampleResponse = { tokens: [], finish: [] };
    setImmediate(() => {
      next = undefined;
      call.write(made);
    });
    return (next = made);
  };
  const finish = (result: wire.SampleFinish): void => {
    running.delete(result.id);
    message().finish.push(result);
  };
  const start = (add: wire.SampleAdd, on: Sampler): void => {
    const controller = new AbortController();
    running.set(add.id, controller);
    const onTokens = (chunk: SampledChunk): void =>
      void message().tokens.push(...sampleTokensCodec.encode(add.id, chunk));
    on.sample(sampleAddCodec.decode(add), { signal: controller.signal, ...(add.streamTokens && { onTokens }) }).then(
      (result) => finish(sampleFinishCodec.encode(add.id, result)),
      (error: unknown) => finish(sampleFinishCodec.encodeError(add.id, error)),
    );
  };
  const receive = async ({ open, add, cancel, barrier }: wire.SampleRequest): Promise<void> => {
    if (open !== undefined) sampler = await host.sampler(open.modelId);
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
  const inOrder = (work: () => Promise<void>): void => {
    tail = tail.then(work).catch((error: unknown) => void call.emit("error", statusOfError(error)));
  };
  call.on("data", (message: wire.SampleRequest) => inOrder(() => receive(message)));
  call.on("end", () => inOrder(end));
  call.on("cancelled", () => {
    for (const controller of running.values()) controller.abort();
    inOrder(async () => sampler?.close());
  });
}
