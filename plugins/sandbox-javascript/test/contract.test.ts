import { afterAll, describe, test } from "@jest/globals";
import { sandboxContract } from "@mrlm/testing";
import { makeSandbox } from "./support/make-sandbox.ts";

const sandbox = makeSandbox();
afterAll(() => sandbox.close());

sandboxContract({ name: "the JavaScript sandbox", make: () => sandbox, registry: { describe, test } });
