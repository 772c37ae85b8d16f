export { type DialectName, DIALECT_NAMES } from "./dialects.ts";
export { environmentIn } from "./environment-name.ts";
export { type DialectServer, type ServeDialectsOptions, serveDialects } from "./serve-dialects.ts";
