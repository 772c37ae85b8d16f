import { type Server, type ServerCredentials, logVerbosity, setLogVerbosity } from "@grpc/grpc-js";
import { MrlmError } from "@mrlm/spec";

/** Binds a server to `host:port` (port 0: any free port). Rejects with PORT_IN_USE. @returns the port */
export async function listen(server: Server, address: string, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    // The error reports the cause. Without this, gRPC would write a shorter line on stderr as well.
    const isQuiet = process.env["GRPC_VERBOSITY"] === undefined;
    if (isQuiet) setLogVerbosity(logVerbosity.NONE);
    server.bindAsync(address, credentials, (error, port) => {
      if (isQuiet) setLogVerbosity(logVerbosity.ERROR);
      if (error === null) resolve(port);
      else reject(bindError(address, error));
    });
  });
}

/** Returns the error of a server that cannot listen: PORT_IN_USE or CONFIG_INVALID. */
export function bindError(address: string, cause: Error): MrlmError {
  if (cause.message.includes("EADDRINUSE")) {
    return new MrlmError(
      "PORT_IN_USE",
      `Port ${address.slice(address.lastIndexOf(":") + 1)} is in use by another process (${address}).`,
      { hint: "Choose another port (`--port` of the command); 0 takes any free one." },
    );
  }
  return new MrlmError("CONFIG_INVALID", `The server cannot listen on ${address}: ${cause.message}`, {
    hint: "Give an address of this machine as host:port.",
    cause,
  });
}
