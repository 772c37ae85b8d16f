export { connectEngine } from "./engine/connect-engine.ts";
export { routedEngine } from "./engine/routed-engine.ts";
export { SamplerPool } from "./engine/sampler-pool.ts";
export { connectEnvironments } from "./environments/connect-environments.ts";
export type { ConnectEnvironmentsOptions } from "./environments/remote-host.ts";
export { connectStore, type ConnectStoreOptions } from "./store/connect-store.ts";
export type { ServedStore } from "./store/served-store.ts";
export type { ClientTls } from "./connection/tls.ts";
export { tlsFault } from "./connection/tls-fault.ts";
