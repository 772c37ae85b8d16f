import { MrlmError } from "@mrlm/spec";
import type { ExternalSampler } from "@mrlm/spec/host";
import { updateCodec, samplerInfoCodec, type samplerProto as wire } from "@mrlm/wire";
import { unary } from "../unary.ts";
import { serveSamples } from "./sample-stream.ts";

export function samplerMethods(sampler: Omit<ExternalSampler, "close">) {
  return {
    describe: unary<wire.DescribeRequest, wire.DescribeResponse>(async () =>
      samplerInfoCodec.encode(await sampler.describe()),
    ),
    readTokenizer: unary<wire.ReadTokenizerRequest, wire.ReadTokenizerResponse>(async ({ request }) => ({
      files: new Map(Object.entries(await sampler.readTokenizer(request.modelId))),
    })),
    update: unary<wire.UpdateRequest, wire.UpdateResponse>(async ({ request }) =>
      updateCodec.response.encode(await sampler.update(updateCodec.request.decode(request))),
    ),
    sleep: unary<wire.SleepRequest, wire.SleepResponse>(async () => {
      if (sampler.sleep === undefined)
        throw new MrlmError("OPTIONS_INVALID", "This sampler keeps its memory: it has no capability `sleeps`.");
      await sampler.sleep();
      return {};
    }),
    sample: (call: Parameters<typeof serveSamples>[1]) => serveSamples(sampler, call),
  };
}
