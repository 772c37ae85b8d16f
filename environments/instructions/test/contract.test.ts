import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import plugin from "../src/index.ts";

environmentContract({
  plugins: [plugin],
  environment: "instructions@1",
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
});
