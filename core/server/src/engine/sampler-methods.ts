import type { ExternalSampler } from "@mrlm/spec/host";
import { decodeUpdate, encodeSamplerInfo, encodeUpdateResult, type samplerProto as wire } from "@mrlm/wire";
import { unary } from "../unary.ts";
import { serveSamples } from "./sample-stream.ts";

export function samplerMethods(sampler: Pick<ExternalSampler, "describe" | "readTokenizer" | "sampler" | "update">) {
  return {
    describe: unary<wire.DescribeRequest, wire.DescribeResponse>(async () =>
      encodeSamplerInfo(await sampler.describe()),
    ),
    readTokenizer: unary<wire.ReadTokenizerRequest, wire.ReadTokenizerResponse>(async ({ request }) => ({
      files: new Map(Object.entries(await sampler.readTokenizer(request.modelId))),
    })),
    update: unary<wire.UpdateRequest, wire.UpdateResponse>(async ({ request }) =>
      encodeUpdateResult(await sampler.update(decodeUpdate(request))),
    ),
    sample: (call: Parameters<typeof serveSamples>[1]) => serveSamples(sampler, call),
  };
}
