import { afterAll, describe, test } from "@jest/globals";
import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import { toolsPlugins } from "./support/plugins.ts";

const { plugins, close } = await toolsPlugins();
afterAll(close);

let transport = "";

environmentContract({
  plugins,
  environment: "tools@2",
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
  registry: {
    describe: (name, body) =>
      describe(name, () => {
        transport = name;
        body();
      }),
    test(name, body, timeoutMs) {
      // The last test plays the fixtures over all transports and compares them.
      if (transport !== "over gRPC" || !name.startsWith("fixture ")) test(name, body, timeoutMs);
    },
  },
});
