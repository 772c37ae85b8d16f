import * as health from "../gen/grpc/health/v1/health.ts";
import * as reflection from "../gen/grpc/reflection/v1/reflection.ts";
import * as engine from "../gen/mrlm/engine/v1/engine.ts";
import * as environment from "../gen/mrlm/env/v1/environment.ts";
import * as sampler from "../gen/mrlm/sampler/v1/sampler.ts";
import * as store from "../gen/mrlm/store/v1/store.ts";
import { forwarded, method, preserialisedDuplex } from "./method.ts";

const ENVIRONMENT = "/mrlm.env.v1.EnvironmentService" as const;

/** `mrlm.env.v1.EnvironmentService` for @grpc/grpc-js. */
export const ENVIRONMENT_SERVICE = {
  describe: method(`${ENVIRONMENT}/Describe`, "unary", environment.DescribeRequest, environment.DescribeResponse),
  reset: method(`${ENVIRONMENT}/Reset`, "unary", environment.ResetRequest, environment.ResetResponse),
  step: method(`${ENVIRONMENT}/Step`, "unary", environment.StepRequest, environment.StepResponse),
  close: method(`${ENVIRONMENT}/Close`, "unary", environment.CloseRequest, environment.CloseResponse),
  renew: method(`${ENVIRONMENT}/Renew`, "unary", environment.RenewRequest, environment.RenewResponse),
  demonstrate: method(
    `${ENVIRONMENT}/Demonstrate`,
    "unary",
    environment.DemonstrateRequest,
    environment.DemonstrateResponse,
  ),
  multiplex: preserialisedDuplex(`${ENVIRONMENT}/Multiplex`, environment.MultiplexResponse),
};

/** ENVIRONMENT_SERVICE for a server, which reads the requests and writes the responses of methods that concern sessions itself. */
export const SERIALISED_ENVIRONMENT_SERVICE = {
  ...ENVIRONMENT_SERVICE,
  reset: forwarded(ENVIRONMENT_SERVICE.reset),
  step: forwarded(ENVIRONMENT_SERVICE.step),
  close: forwarded(ENVIRONMENT_SERVICE.close),
  renew: forwarded(ENVIRONMENT_SERVICE.renew),
};

const ENGINE = "/mrlm.engine.v1.EngineService" as const;

/** `mrlm.engine.v1.EngineService` for @grpc/grpc-js. */
export const ENGINE_SERVICE = {
  describe: method(`${ENGINE}/Describe`, "unary", engine.DescribeRequest, engine.DescribeResponse),
  estimateMemory: method(
    `${ENGINE}/EstimateMemory`,
    "unary",
    engine.EstimateMemoryRequest,
    engine.EstimateMemoryResponse,
  ),
  createModel: method(`${ENGINE}/CreateModel`, "unary", engine.CreateModelRequest, engine.CreateModelResponse),
  releaseModel: method(`${ENGINE}/ReleaseModel`, "unary", engine.ReleaseModelRequest, engine.ReleaseModelResponse),
  forward: method(`${ENGINE}/Forward`, "duplex", engine.ForwardRequest, engine.ForwardResponse),
  forwardBackward: method(
    `${ENGINE}/ForwardBackward`,
    "duplex",
    engine.ForwardBackwardRequest,
    engine.ForwardBackwardResponse,
  ),
  optimStep: method(`${ENGINE}/OptimStep`, "unary", engine.OptimStepRequest, engine.OptimStepResponse),
  average: method(`${ENGINE}/Average`, "unary", engine.AverageRequest, engine.AverageResponse),
  publish: method(`${ENGINE}/Publish`, "unary", engine.PublishRequest, engine.PublishResponse),
  weights: method(`${ENGINE}/Weights`, "server-stream", engine.WeightsRequest, engine.WeightsResponse),
  writeWeights: method(`${ENGINE}/WriteWeights`, "unary", engine.WriteWeightsRequest, engine.WriteWeightsResponse),
  save: method(`${ENGINE}/Save`, "unary", engine.SaveRequest, engine.SaveResponse),
  load: method(`${ENGINE}/Load`, "unary", engine.LoadRequest, engine.LoadResponse),
  export: method(`${ENGINE}/Export`, "unary", engine.ExportRequest, engine.ExportResponse),
};

const SAMPLER = "/mrlm.sampler.v1.SamplerService" as const;

/** `mrlm.sampler.v1.SamplerService` for @grpc/grpc-js. */
export const SAMPLER_SERVICE = {
  describe: method(`${SAMPLER}/Describe`, "unary", sampler.DescribeRequest, sampler.DescribeResponse),
  readTokenizer: method(
    `${SAMPLER}/ReadTokenizer`,
    "unary",
    sampler.ReadTokenizerRequest,
    sampler.ReadTokenizerResponse,
  ),
  sample: method(`${SAMPLER}/Sample`, "duplex", sampler.SampleRequest, sampler.SampleResponse),
  update: method(`${SAMPLER}/Update`, "unary", sampler.UpdateRequest, sampler.UpdateResponse),
  sleep: method(`${SAMPLER}/Sleep`, "unary", sampler.SleepRequest, sampler.SleepResponse),
};

const STORE = "/mrlm.store.v1.StoreService" as const;

/** `mrlm.store.v1.StoreService` for @grpc/grpc-js. */
export const STORE_SERVICE = {
  describe: method(`${STORE}/Describe`, "unary", store.DescribeRequest, store.DescribeResponse),
  open: method(`${STORE}/Open`, "unary", store.OpenRequest, store.OpenResponse),
  lease: method(`${STORE}/Lease`, "unary", store.LeaseRequest, store.LeaseResponse),
  renew: method(`${STORE}/Renew`, "unary", store.RenewRequest, store.RenewResponse),
  commit: method(`${STORE}/Commit`, "unary", store.CommitRequest, store.CommitResponse),
  take: method(`${STORE}/Take`, "server-stream", store.TakeRequest, store.TakeResponse),
  refuse: method(`${STORE}/Refuse`, "unary", store.RefuseRequest, store.RefuseResponse),
  settle: method(`${STORE}/Settle`, "unary", store.SettleRequest, store.SettleResponse),
  abandon: method(`${STORE}/Abandon`, "unary", store.AbandonRequest, store.AbandonResponse),
  buffer: method(`${STORE}/Buffer`, "unary", store.BufferRequest, store.BufferResponse),
  record: method(`${STORE}/Record`, "duplex", store.RecordRequest, store.RecordResponse),
  announce: method(`${STORE}/Announce`, "unary", store.AnnounceRequest, store.AnnounceResponse),
  newest: method(`${STORE}/Newest`, "unary", store.NewestRequest, store.NewestResponse),
  mirror: method(`${STORE}/Mirror`, "unary", store.MirrorRequest, store.MirrorResponse),
  prune: method(`${STORE}/Prune`, "unary", store.PruneRequest, store.PruneResponse),
  join: method(`${STORE}/Join`, "unary", store.JoinRequest, store.JoinResponse),
  leave: method(`${STORE}/Leave`, "unary", store.LeaveRequest, store.LeaveResponse),
  members: method(`${STORE}/Members`, "unary", store.MembersRequest, store.MembersResponse),
  watch: method(`${STORE}/Watch`, "server-stream", store.WatchRequest, store.WatchResponse),
  flush: method(`${STORE}/Flush`, "unary", store.FlushRequest, store.FlushResponse),
};

/** `grpc.health.v1.Health`. */
export const HEALTH_SERVICE = {
  check: method("/grpc.health.v1.Health/Check", "unary", health.HealthCheckRequest, health.HealthCheckResponse),
  watch: method("/grpc.health.v1.Health/Watch", "server-stream", health.HealthCheckRequest, health.HealthCheckResponse),
};

/** `grpc.reflection.v1.ServerReflection` and `v1alpha`, which older clients use. The messages are equal. */
export const REFLECTION_SERVICES = ["v1", "v1alpha"].map((version) => ({
  serverReflectionInfo: method(
    `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    "duplex",
    reflection.ServerReflectionRequest,
    reflection.ServerReflectionResponse,
  ),
}));
