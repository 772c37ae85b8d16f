import { environmentContract, inProcess, overGrpc } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { pythonTest as test } from "./support/python.ts";
import { fixtures } from "../src/fixtures.ts";
import { describe } from "@jest/globals";

const [{ options }] = fixtures as readonly [(typeof fixtures)[number]];
environmentContract({
  plugins: [plugin],
  environment: "python-env@1",
  transports: { "in process": inProcess, "over gRPC": overGrpc() },
  options: options ?? {},
  registry: { describe, test },
});
