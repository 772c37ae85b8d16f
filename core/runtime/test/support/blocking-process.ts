// A host in a separate process, whose environment never yields in `step`; argv[2] is how long past its deadline that may last, argv[3] the form on stderr.
import { LocalHost, PluginHost, watchEventLoop } from "@mrlm/runtime";
import { definePlugin, observe, textMessage } from "@mrlm/kit";
import { counterEnvironment, never, messageOf } from "./counter-environment.ts";

const endless = (): never => {
  for (;;);
};
const environment = counterEnvironment({
  id: "endless@1",
  deadlines: { stepMs: 200 },
  create: () => ({ reset: async () => observe([textMessage("user", "go")]), step: async () => endless() }),
});
watchEventLoop({
  stderr: process.argv[3] as "text" | "json",
  event: "blocked",
  ends: true,
  graceMs: Number(process.argv[2]),
});
const host = new LocalHost({
  source: await PluginHost.of([definePlugin({ name: "test", environments: [environment] })]),
});
const session = await host.open({ id: "endless@1" });
await session.reset({ task: "train/0", seed: 1, signal: never });
await session.step(messageOf("x"), { signal: never });
