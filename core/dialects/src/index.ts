export { DIALECT_NAMES } from "./dialects.ts";
export { environmentIn } from "./environment-name.ts";
export { ClientSandbox } from "./sandbox-fusion/client-sandbox.ts";
export { serveDialects } from "./serve-dialects.ts";
