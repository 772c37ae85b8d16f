// Opens a workspace, starts programs in it, and waits to be killed. Argument: options of the provider as JSON.
import { DockerWorkspaces } from "../../src/docker-workspaces.ts";

const workspaces = await DockerWorkspaces.make(JSON.parse(process.argv[2] as string));
const workspace = await workspaces.open();
const shell = await workspace.shell();
await shell.run("sleep 600 & (setsid sleep 601 &)");
process.stdout.write("open\n");
setInterval(() => undefined, 1000);
