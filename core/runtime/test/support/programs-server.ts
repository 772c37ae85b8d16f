// Server of programs in its own process: `node programs-server.ts PORT FOLDER`. It sends its port to the parent process.
import { serveEnvironments } from "@mrlm/server";
import { processPrograms } from "./process-programs.ts";
import { localHost } from "./rollouts.ts";

const [, , port = "0", folder = ""] = process.argv;
const server = await serveEnvironments({
  host: await localHost(processPrograms(folder)),
  address: `127.0.0.1:${port}`,
});
process.send?.(server.port);
process.on("disconnect", () => process.exit());
