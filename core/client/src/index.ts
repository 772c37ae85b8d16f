export { connectEngine } from "./engine/connect-engine.ts";
export { type EngineRoute, routedEngine } from "./engine/routed-engine.ts";
export { SamplerPool, type SamplerPoolOptions } from "./engine/sampler-pool.ts";
export type { SamplerPlace } from "./engine/pool-member.ts";
export { connectEnvironments } from "./environments/connect-environments.ts";
export type { ConnectEnvironmentsOptions } from "./environments/remote-host.ts";
export { connectStore, type ConnectStoreOptions } from "./store/connect-store.ts";
export type { ServedStore } from "./store/served-store.ts";
export type { ClientTls } from "./connection/tls.ts";
