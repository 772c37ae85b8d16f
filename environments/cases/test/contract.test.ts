import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import plugin from "../src/index.ts";

environmentContract({
  plugins: [plugin],
  environment: "cases@1",
  options: plugin.environments?.[0]?.fixtures?.[0]?.options,
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
});
