/** Entry for HTTP servers on `node:http`: access, bodies, limits, and the end of a server. */

export { type AccessCheck, accessCheck } from "./http/access.ts";
export { Exchange } from "./http/exchange.ts";
export { HttpError } from "./http/http-error.ts";
export { createHttpServer } from "./http/http-server.ts";
export { parseClientJson } from "./http/parse-client-json.ts";
