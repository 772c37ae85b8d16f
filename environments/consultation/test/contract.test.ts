import { environmentContract, inProcess, overGrpc, pluginContract } from "@mrlm/testing";
import plugin from "../src/index.ts";

pluginContract({ plugins: [plugin] });

environmentContract({
  plugins: [plugin],
  environment: "consultation@1",
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
});
