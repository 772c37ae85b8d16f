import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { serveDialects } from "@mrlm/dialects";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { temporaryDirectory } from "./support/temporary-directory.ts";

type DialectServer = Awaited<ReturnType<typeof serveDialects>>;

const directory = temporaryDirectory();
let host: LocalHost;
let server: DialectServer;

beforeAll(async () => {
  host = new LocalHost({ source: await PluginHost.discover({ directory: process.cwd() }) });
  server = await serveDialects({ host, address: "127.0.0.1:0", dialects: ["nemo-gym"], environments: ["math@2"] });
});
afterAll(async () => {
  await server?.close();
  await host?.close();
});

/** Returns the answer of `/verify` to an answer to the one row of a file. */
async function verified(expected: string, answer: string): Promise<unknown> {
  const path = join(directory, `${Buffer.from(expected).toString("hex")}.jsonl`);
  writeFileSync(path, JSON.stringify({ query: "What is half of 2?", answer: expected }));
  const row = {
    responses_create_params: { input: "?" },
    ...{ task: "train/0", options: { data: { path, eval_share: 0 } } },
  };
  const post = (route: string, body: object, cookie = "") =>
    fetch(`http://127.0.0.1:${server.port}/math@2/${route}`, {
      method: "POST",
      headers: { "content-type": "application/json", cookie },
      body: JSON.stringify(body),
    });
  const seeded = await post("seed_session", row);
  const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: answer }] };
  const cookie = seeded.headers.getSetCookie()[0]?.split(";")[0];
  return (await post("verify", { ...row, response: { id: "r", output: [message] } }, cookie)).json();
}

test.each(["<answer>\\square</answer>", "<answer>?=1</answer>", "<answer>2</answer>", ""])(
  "U2: over a protocol of another framework, the answer %j is a wrong sample, not a masked one",
  async (answer) => {
    expect(await verified("1", answer)).toMatchObject({
      reward: 0,
      mask_sample: false,
      reward_components: { correct: 0 },
    });
  },
);

test("U2: a row whose answer cannot be read is a masked sample, whatever the policy writes", async () => {
  for (const answer of ["<answer>1</answer>", "<answer>\\square</answer>"])
    expect(await verified("?=\\square", answer)).toMatchObject({
      reward: 0,
      mask_sample: true,
      failure_kind: "verifier_error",
      failure_reason: expect.stringMatching(/^SCORER_REFERENCE_INVALID: /),
    });
});
