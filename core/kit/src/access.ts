/** Entry for servers and their clients: files of tokens and certificates, which may change while a process runs. */

export { type ClientFiles, clientIdentity, clientToken } from "./access/client-access.ts";
export { openServerAccess, type ServerAccess } from "./access/server-access.ts";
export { ServerTls } from "./access/server-tls.ts";
export type { TlsIdentity } from "./access/tls-identity.ts";
export { Tokens } from "./access/tokens.ts";
