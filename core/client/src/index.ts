export { connectEngine } from "./engine/connect-engine.ts";
export { routedEngine } from "./engine/routed-engine.ts";
export { SamplerPool } from "./engine/sampler-pool.ts";
export { connectEnvironments } from "./environments/connect-environments.ts";
export type { ConnectEnvironmentsOptions } from "./environments/remote-host.ts";
export { connectStore } from "./store/connect-store.ts";
export { tlsFault } from "./connection/tls-fault.ts";
