import { resolve } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { type RolloutOptions } from "../src/declarations/flag-groups.ts";
import { declareCollect } from "../src/declarations/collect.ts";
import { endpointOfFlags, rolloutSessionConfig } from "../src/services/rollout-session-config.ts";
import { type GivenOptions, parseOptions } from "./support/parse-options.ts";

const { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: key } = process.env;
const restore = (name: string, value: string | undefined): void => {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
};
afterEach(() => {
  restore("OPENAI_BASE_URL", baseUrl);
  restore("OPENAI_API_KEY", key);
});
const environment = (url: string | undefined, secret: string | undefined): void => {
  restore("OPENAI_BASE_URL", url);
  restore("OPENAI_API_KEY", secret);
};

const endpointOf = (given: GivenOptions<RolloutOptions>) =>
  endpointOfFlags(
    parseOptions(declareCollect, { output: "x.jsonl", environment: "nim", ...given }) as Pick<RolloutOptions, "model">,
  );

describe("a model of an endpoint on the command line", () => {
  test("has its address from --base-url, else OPENAI_BASE_URL, else OpenAI; the key is named, never read into it", () => {
    environment(undefined, undefined);
    const model = "openai:gpt-x";
    expect(endpointOf({ model })).toEqual({
      endpoint: "https://api.openai.com/v1",
      model: "gpt-x",
      api_key_env: "OPENAI_API_KEY",
      options: {},
    });
    const local = "http://localhost:8000/v1";
    expect(endpointOf({ model, baseUrl: local })).toEqual({ endpoint: local, model: "gpt-x", options: {} });
    environment("http://proxy/v1", "sk-secret");
    const named = endpointOf({ model, modelOptions: '{"temperature": null}' });
    expect(named).toEqual({
      endpoint: "http://proxy/v1",
      model: "gpt-x",
      api_key_env: "OPENAI_API_KEY",
      options: { temperature: null },
    });
    expect(endpointOf({ model, baseUrl: local })?.endpoint).toBe(local);
    expect(endpointOf({ model: "runs/a" })).toBeUndefined();
  });

  test.each<[GivenOptions<RolloutOptions>, RegExp]>([
    [{ model: "runs/a", baseUrl: "http://h/v1" }, /^--base-url is for a model of an endpoint/],
    [{ model: "runs/a", modelOptions: "{}" }, /^--model-options is for a model of an endpoint/],
    [{ model: "openai:" }, /names no model/],
    [{ model: "openai:m", baseUrl: "http://u:secret@h" }, /^--base-url must be an http or https URL without a user/],
    [{ model: "openai:m", baseUrl: "h:1" }, /^--base-url must be/],
    [{ model: "openai:m", modelOptions: "[]" }, /--model-options is not a JSON object/],
  ])("%o is refused", (flags, message) => {
    expect(() => endpointOf(flags)).toThrow(message);
    expect(() => endpointOf(flags)).not.toThrow(/secret/);
  });
});

describe("--player", () => {
  const session = async (...player: string[]) => {
    environment(undefined, undefined);
    const flags = { model: "openai:m", baseUrl: "http://h/v1", environment: "nim", split: "eval", player };
    return (await rolloutSessionConfig(flags, () => Promise.reject(new Error("no model is fetched")))).config.eval
      .environments;
  };

  test("states players as a configuration does; the path of a model is relative to the working directory", async () => {
    const given = ["first=policy", "second={scripted: random, options: {a: 1}}", "third={model: runs/a}"];
    const endpoint = 'fourth={endpoint: "http://h/v1", model: q}';
    expect(await session(...given, endpoint)).toMatchObject([
      {
        id: "nim",
        players: {
          first: { policy: "policy" },
          second: { scripted: "random", options: { a: 1 } },
          third: { model: resolve("runs/a") },
          fourth: { endpoint: "http://h/v1", model: "q" },
        },
      },
    ]);
    expect((await session())[0]).not.toHaveProperty("players");
  });

  test.each([
    ["second", /^--player second is not ROLE=PLAYER/],
    ["=policy", /is not ROLE=PLAYER/],
    ["second=", /is not ROLE=PLAYER/],
    ["second={scripted: random", /^--player second: the value .* is not valid YAML/],
    ["second={scriptd: random}", /^--player second: unknown key "scriptd"/],
    ["second=polcy", /^--player second: .*there is no policy "polcy"/],
    ["second={endpoint: 'http://h/v1'}", /^--player second: .*needs `model`/],
    ["second=3", /^--player second: /],
  ])("%s is refused at the flag", async (player, message) => {
    await expect(session(player)).rejects.toThrow(message);
  });
});
