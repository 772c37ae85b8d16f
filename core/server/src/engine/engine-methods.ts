import { defined } from "@mrlm/spec";
import {
  createModelCodec,
  inFlightCodec,
  estimateMemoryCodec,
  optimStepCodec,
  engineInfoCodec,
  modelInfoCodec,
  toInt64,
  type engineProto as wire,
} from "@mrlm/wire";
import { unary } from "../unary.ts";
import type { NumberedCalls } from "../numbered-calls.ts";
import type { ServedEngine } from "./served-engine.ts";

/** Returns the unary methods of EngineService. */
export function engineMethods(engine: ServedEngine, calls: NumberedCalls) {
  return {
    describe: unary<wire.DescribeRequest, wire.DescribeResponse>(async () =>
      engineInfoCodec.encode(await engine.describe(), calls.last),
    ),
    estimateMemory: unary<wire.EstimateMemoryRequest, wire.EstimateMemoryResponse>(async ({ request }) =>
      estimateMemoryCodec.response.encode(await engine.estimateMemory(estimateMemoryCodec.request.decode(request))),
    ),
    createModel: numbered<wire.CreateModelRequest, wire.CreateModelResponse>(async (request) =>
      createModelCodec.response.encode(await engine.createModel(createModelCodec.request.decode(request))),
    ),
    releaseModel: numbered<wire.ReleaseModelRequest, wire.ReleaseModelResponse>(async ({ modelId }) => {
      await engine.releaseModel(modelId);
      return {};
    }),
    optimStep: numbered<wire.OptimStepRequest, wire.OptimStepResponse>(async (request) =>
      optimStepCodec.response.encode(await engine.optimStep(optimStepCodec.request.decode(request))),
    ),
    average: numbered<wire.AverageRequest, wire.AverageResponse>(async ({ modelId, of, decay }) => {
      await engine.average({ model: modelId, of, decay });
      return {};
    }),
    publish: numbered<wire.PublishRequest, wire.PublishResponse>(async ({ modelId, inFlight }) => {
      const { version, checksum, seconds } = await engine.publish(modelId, inFlightCodec.decode(inFlight));
      return { version: toInt64(version, "a weight version"), checksum, seconds };
    }),
    writeWeights: unary<wire.WriteWeightsRequest, wire.WriteWeightsResponse>(async ({ request }) => {
      const { modelId, directory, untied } = request;
      const { version, checksum } = await engine.writeWeights(modelId, directory, { untied });
      return { version: toInt64(version, "a weight version"), checksum, files: [] };
    }),
    save: numbered<wire.SaveRequest, wire.SaveResponse>(async ({ directory }) => {
      const { bytes, checksum } = await engine.save(directory);
      return { bytes: toInt64(bytes, "a checkpoint's size"), checksum };
    }),
    load: numbered<wire.LoadRequest, wire.LoadResponse>(
      async ({ directory, microBatchTokens, gradientCheckpointing }) => {
        const options = {
          ...defined({ microBatchTokens, gradientCheckpointing }),
        };
        return { models: (await engine.load(directory, options)).map(modelInfoCodec.encode), lastCall: calls.last };
      },
    ),
    export: numbered<wire.ExportRequest, wire.ExportResponse>(async ({ modelId, directory, mergeAdapter }) => ({
      files: [...(await engine.export(modelId, directory, { mergeAdapter }))],
    })),
  };

  function numbered<Request extends { readonly call: bigint }, Response>(
    work: (request: Request) => Promise<Response>,
  ) {
    return unary<Request, Response>(({ request }) => calls.run(request.call, () => work(request)));
  }
}
