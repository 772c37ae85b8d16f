import type { ExternalSampler } from "@mrlm/spec/host";
import { updateCodec, samplerInfoCodec, type samplerProto as wire } from "@mrlm/wire";
import { unary } from "../unary.ts";
import { serveSamples } from "./sample-stream.ts";

export function samplerMethods(sampler: Pick<ExternalSampler, "describe" | "readTokenizer" | "sampler" | "update">) {
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
    sample: (call: Parameters<typeof serveSamples>[1]) => serveSamples(sampler, call),
  };
}
