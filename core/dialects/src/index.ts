export { type DialectName, DIALECT_NAMES } from "./dialects.ts";
export { type DialectServer, type ServeDialectsOptions, serveDialects } from "./serve-dialects.ts";
