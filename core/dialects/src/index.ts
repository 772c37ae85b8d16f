export { type DialectName, DIALECT_NAMES } from "./dialects.ts";
export { environmentIn } from "./environment-name.ts";
export { ClientSandbox, type ClientSandboxOptions } from "./sandbox-fusion/client-sandbox.ts";
export { type DialectServer, type ServeDialectsOptions, serveDialects } from "./serve-dialects.ts";
