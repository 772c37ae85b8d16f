export { type EnvironmentServer, type ServeEnvironmentsOptions, serveEnvironments } from "./serve-environments.ts";
export type { SessionStats } from "./sessions/session-table.ts";
export { type EngineServer, serveEngine } from "./engine/serve-engine.ts";
export type { ServedEngine } from "./engine/served-engine.ts";
