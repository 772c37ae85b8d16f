import { defined } from "@mrlm/spec";
import { type ClientFiles, clientIdentity, clientToken } from "@mrlm/kit/access";
import type { ConnectEnvironmentsOptions } from "@mrlm/client";

/** Reads the token of an engine, for the options of its client. Throws CONFIG_INVALID if the file cannot be read or does not hold one token. */
export function engineToken(file: string | undefined): { readonly token?: string } {
  return file === undefined ? {} : { token: clientToken(file)() };
}

/** Reads the credentials of a client of environment servers; later again, as soon as the server refuses them. Throws CONFIG_INVALID. */
export function serverCredentials(server: {
  readonly token_file?: string;
  readonly tls?: ClientFiles & { readonly server_name?: string };
}): Pick<ConnectEnvironmentsOptions, "token" | "tls"> {
  const { token_file: file, tls } = server;
  return {
    ...(file === undefined ? {} : { token: clientToken(file) }),
    ...(tls === undefined ? {} : { tls: clientTls(tls) }),
  };
}

function clientTls({ server_name: serverName, ...files }: ClientFiles & { readonly server_name?: string }) {
  const identity = clientIdentity(files);
  return () => ({ ...identity(), ...defined({ serverName }) });
}
