import { describe, test } from "@jest/globals";
import { sandboxContract } from "@mrlm/testing";
import { describeKinds } from "./support/kinds.ts";

describeKinds("Python", (sandbox) =>
  sandboxContract({ name: "the Python sandbox", make: sandbox, registry: { describe, test } }),
);
