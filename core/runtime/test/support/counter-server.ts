// Server in its own process: `node counter-server.ts PORT`. It sends its port to the parent process.
import { serveEnvironments } from "@mrlm/server";
import { counterEnvironment } from "./counter-environment.ts";
import { localHost } from "./rollouts.ts";

const environment = counterEnvironment();
const server = await serveEnvironments({
  host: await localHost({
    ...environment,
    create(context, options) {
      const inner = environment.create(context, options as never) as { step(...of: unknown[]): unknown };
      const step = inner.step.bind(inner);
      // Episodes last long enough for a kill to reach them.
      return Object.assign(inner, {
        async step(...of: unknown[]) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          return step(...of);
        },
      }) as never;
    },
  }),
  address: `127.0.0.1:${process.argv[2] ?? 0}`,
});
process.send?.(server.port);
process.on("disconnect", () => process.exit());
