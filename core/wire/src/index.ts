export * from "./errors.ts";
export * from "./integers.ts";
export * from "./invalid.ts";
export * from "./protocol.ts";
export * from "./engine/memory.ts";
export * from "./engine/models.ts";
export { decodeOptimStep, decodeOptimStepResult, encodeOptimStep, encodeOptimStepResult } from "./engine/optimizer.ts";
export {
  decodeGradients,
  decodeOutputs,
  decodeSelection,
  decodeUnit,
  decodeUnitGradients,
  encodeGradients,
  encodeOutputs,
  encodeSelection,
  encodeUnit,
  unitBytes,
} from "./engine/units.ts";
export * from "./environment/descriptions.ts";
export * from "./environment/turns.ts";
export type { Serialised } from "./grpc/method.ts";
export { serialise } from "./grpc/serialise.ts";
export * from "./grpc/services.ts";
export * from "./grpc/status.ts";
export * from "./multiplex/assembler.ts";
export {
  cancelEntry,
  decodedPart,
  entriesOf,
  requestEntry,
  type RequestEnvelope,
  requestEnvelope,
  type RequestKind,
  responseEntry,
  responseEnvelope,
  type SessionAddress,
  sessionAddress,
} from "./multiplex/envelope.ts";
export * from "./multiplex/inbox.ts";
export * from "./multiplex/outbox.ts";
export * from "./grpc/schema.ts";
export * from "./sampler/description.ts";
export * from "./sampler/sampling.ts";
export * from "./sampler/update.ts";
export {
  decodeCredit,
  decodeEvent,
  decodeRecordHead,
  decodeTakenHead,
  decodeTakeRecord,
  decodeTakeRule,
  decodeWeights,
  encodeCredit,
  encodeEvent,
  encodeRecordHead,
  encodeTakenHead,
  encodeTakeRecord,
  encodeWeights,
} from "./store/batches.ts";
export { decodeCohort, decodeLease, encodeCohort, encodeLease } from "./store/cohorts.ts";
export {
  decodeMember,
  decodeStoreDescription,
  encodeMember,
  encodeStoreDescription,
  type StoreDescription,
} from "./store/description.ts";
export { decodeGroups, groupMessages, parseJsonText } from "./store/groups.ts";
export { encodeJson } from "@mrlm/store/encoding";
export * as engineProto from "./gen/mrlm/engine/v1/engine.ts";
export * as samplerProto from "./gen/mrlm/sampler/v1/sampler.ts";
export * as environmentProto from "./gen/mrlm/env/v1/environment.ts";
export * as storeProto from "./gen/mrlm/store/v1/store.ts";
export * as healthProto from "./gen/grpc/health/v1/health.ts";
export * as reflectionProto from "./gen/grpc/reflection/v1/reflection.ts";
