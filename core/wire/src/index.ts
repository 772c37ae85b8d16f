export * from "./errors.ts";
export * from "./integers.ts";
export * from "./invalid.ts";
export * from "./protocol.ts";
export * from "./engine/memory.ts";
export * from "./engine/models.ts";
export { optimStepCodec } from "./engine/optimizer.ts";
export { gradientsCodec, outputsCodec, selectionCodec, unitCodec } from "./engine/units.ts";
export * from "./environment/descriptions.ts";
export { actionCodec, observationCodec, stepCodec } from "./environment/turns.ts";
export type { Serialised } from "./grpc/method.ts";
export { serialise } from "./grpc/serialise.ts";
export * from "./grpc/services.ts";
export * from "./grpc/status.ts";
export * from "./multiplex/assembler.ts";
export * from "./multiplex/inbox.ts";
export * from "./multiplex/outbox.ts";
export * from "./grpc/schema.ts";
export * from "./sampler/description.ts";
export * from "./sampler/sampling.ts";
export * from "./sampler/update.ts";
export {
  creditCodec,
  eventCodec,
  recordHeadCodec,
  takenHeadCodec,
  takeRecordCodec,
  weightsCodec,
} from "./store/batches.ts";
export { cohortCodec, leaseCodec } from "./store/cohorts.ts";
export { memberCodec, storeDescriptionCodec, type StoreDescription } from "./store/description.ts";
export { jsonCodec } from "./json.ts";
export { groupsCodec } from "./store/groups.ts";
export * as engineProto from "./gen/mrlm/engine/v1/engine.ts";
export * as samplerProto from "./gen/mrlm/sampler/v1/sampler.ts";
export * as environmentProto from "./gen/mrlm/env/v1/environment.ts";
export * as storeProto from "./gen/mrlm/store/v1/store.ts";
export * as healthProto from "./gen/grpc/health/v1/health.ts";
export * as reflectionProto from "./gen/grpc/reflection/v1/reflection.ts";
