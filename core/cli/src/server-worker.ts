// Hosts environments for a server, in a process that their code may end or block. services/environment-workers.ts starts it.
import { configuredPlugins, LocalHost, loadConfig, PluginHost, remoteServices, watchEventLoop } from "@mrlm/runtime";
import { serveWorker } from "@mrlm/server";
import { lineLogger } from "./console/line-logger.ts";
import { startTraces } from "./services/traces.ts";
import { selectedEnvironments } from "./services/selected-environments.ts";
import { recordWork } from "./services/work-record.ts";
import { channelsToParent } from "./services/worker-channel.ts";
import { BLOCKED_EVENT, type WorkerRequest } from "./services/worker-request.ts";

const { exit } = process;
const endTraces = await startTraces();
const channels = channelsToParent();
const { directory, config, environments, dataRoot, anyData, link, record, leaseMs, logsJson, name } =
  await new Promise<WorkerRequest>((resolve) => {
    channels.channel("start").onMessage((body) => resolve(body as WorkerRequest));
  });
const endRecord = recordWork(record);
const logger = logsJson
  ? (await import("./console/json-logger.ts")).jsonLogger(process.stderr, Number(name.split(" ").at(-1)))
  : lineLogger((line) => process.stderr.write(`${line}\n`));
watchEventLoop({ event: BLOCKED_EVENT, ends: true, parent: process.ppid });
const plugins = await PluginHost.discover({
  directory,
  logger,
  ...(config === undefined ? {} : configuredPlugins(loadConfig(config.path, { overrides: config.set }))),
});
const source = await selectedEnvironments(plugins, environments);
// Scorers, judges, sandboxes and toolsets are those of the server process: workers share them.
const services = remoteServices(channels.channel("services"));
const host = new LocalHost({
  source: {
    environments: () => source.environments(),
    environment: (name) => source.environment(name),
    packageOf: (id) => source.packageOf(id),
    service: (kind, id, asker) => services.service(kind, id, asker),
    close: () => source.close(),
  },
  logger,
  ...(anyData ? { dataDirectory: dataRoot } : { dataRoot }),
});
await serveWorker({
  host,
  channel: channels.channel("server"),
  link,
  logger,
  ...(leaseMs === undefined ? {} : { leaseMs }),
});
await host.close();
endRecord();
await endTraces?.().catch((error: Error) => logger.warn(`The last spans are lost: ${error.message}`));
exit.call(process, 0);
