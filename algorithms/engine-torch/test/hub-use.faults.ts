import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { pythonDirectory } from "../src/package-directory.ts";
import { locateEngine } from "../src/setup/locate-engine.ts";
import { type Hub, type HubCall, modelFiles, newCommit, startHub } from "./support/hub.ts";
import { expectComplete, HubPlaces, SHARDS } from "./support/hub-cases.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const root = temporaryDirectory();
const installed = await locateEngine();
const describeIf = (condition: boolean) => (condition ? describe : describe.skip);

let hub: Hub;
let places: HubPlaces;
beforeAll(async () => {
  hub = await startHub();
  places = new HubPlaces(hub, root, installed?.executable);
});
afterAll(() => hub.close());

describeIf(installed !== undefined)("a hub and its cache", () => {
  test("a model without its weights is no stored model, and they are fetched later", async () => {
    const files = modelFiles();
    const asked: string[] = [];
    hub.add("org/shape", { files, commit: newCommit(), answer: ({ file }) => (asked.push(file), false) });
    const { get, store } = places.place();
    const report = { notice: () => undefined, progress: () => undefined };
    const shape = await store.get("hub:org/shape", { ...report, weights: false });
    expect(readFileSync(join(shape.directory, "tokenizer.json"))).toEqual(files["tokenizer.json"]);
    expect(asked.filter((name) => name.endsWith(".safetensors"))).toEqual([]);
    expect(await store.list()).toEqual([]);
    const whole = await get("hub:org/shape");
    expect(whole.directory).toBe(shape.directory);
    expectComplete(whole, files);
    // A stored model has its weights at once.
    expect(await store.get("hub:org/shape", { ...report, weights: false })).toEqual(whole);
  }, 300_000);

  test("10 cases: interrupted, concurrent, damaged and offline", async () => {
    const files = modelFiles({ shards: 3 });
    const commit = newCommit();
    hub.add("org/whole", { files, commit });

    // 1: killed in the middle, at the second shard. 2: the next call completes it.
    const killed = places.place();
    const slow = (call: HubCall): boolean => {
      if (call.step !== "cdn" || call.file !== SHARDS[1]) return false;
      call.response.writeHead(200, { "Content-Length": String(call.content.length) });
      call.response.write(call.content.subarray(0, 50_000), () => child.kill("SIGKILL"));
      return true;
    };
    hub.add("org/killed", { files, commit, answer: slow });
    const child = spawn(
      installed?.executable as string,
      ["-m", "mrlm_engine.fetch", "--cache", join(killed.home, "mrlm", "models"), "get", "hub:org/killed"],
      {
        env: { ...killed.env, PYTHONPATH: pythonDirectory(), HF_HUB_DISABLE_XET: "1" },
        stdio: ["pipe", "ignore", "ignore"],
      },
    );
    expect(await new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)))).toBe("SIGKILL");
    expect(await killed.store.list()).toEqual([]);
    hub.add("org/killed", { files, commit });
    expectComplete(await killed.get("hub:org/killed"), files);

    // 3: two downloads of one model at once ask for each file once.
    const both = places.place();
    let asked = 0;
    hub.add("org/both", {
      files,
      commit,
      answer: ({ step, file }) => {
        if (step === "cdn" && file === SHARDS[0]) asked++;
        return false;
      },
    });
    const [first, second] = await Promise.all([both.get("hub:org/both"), both.get("hub:org/both")]);
    expect(first.directory).toBe(second.directory);
    expect(asked).toBe(1);

    // 4: a stored commit asks the hub for nothing. 5: a branch is asked for its commit alone.
    const { get, store, notices, home } = places.place();
    const model = await get("hub:org/whole");
    const before = hub.requests();
    expect(await get(`hub:org/whole@${commit}`)).toMatchObject({ directory: model.directory });
    expect(hub.requests()).toBe(before);
    await get("hub:org/whole");
    expect(hub.requests()).toBe(before + 1);

    // 6, 7: offline, and without a hub, the stored commit is used, and a line states it.
    for (const env of [{ HF_HUB_OFFLINE: "1" }, { HF_ENDPOINT: "http://127.0.0.1:9" }]) {
      notices.length = 0;
      expect(await get("hub:org/whole", env)).toMatchObject({ commit });
      expect(notices.join()).toMatch(/The stored commit .* is used/);
    }

    // 8: a file that was cut later is not complete: it is fetched again.
    truncateSync(join(model.directory, SHARDS[0]), 10);
    expect(await store.list()).toEqual([]);
    expectComplete(await get("hub:org/whole"), files);

    // 9: a moved branch is fetched anew, and both commits are kept until they are removed.
    const next = modelFiles();
    hub.add("org/whole", { files: next, commit: newCommit() });
    expectComplete(await get("hub:org/whole"), next);
    expect(await store.list()).toHaveLength(2);
    await store.remove("hub:org/whole");
    expect(await store.list()).toEqual([]);
    expect(existsSync(model.directory)).toBe(false);

    // 10: a cache that a file stands in the way of.
    const blocked = places.place();
    mkdirSync(blocked.home, { recursive: true });
    writeFileSync(join(blocked.home, "hf"), "");
    await expect(blocked.get("hub:org/both")).rejects.toMatchObject({
      code: "MODEL_DOWNLOAD_FAILED",
      hint: expect.stringMatching(/HF_HOME|HF_ENDPOINT/),
    });
    expect(home).not.toBe(blocked.home);
  }, 300_000);

  test("Xet: a file that the hub also offers by Xet is fetched over plain HTTP; Xet would need the token endpoint and the store that the header names", async () => {
    const files = modelFiles();
    const asked: string[] = [];
    hub.add("org/plain", {
      files,
      commit: newCommit(),
      headers: (headers, { file }) => {
        if (file === "model.safetensors") headers["X-Xet-Hash"] = "f".repeat(64);
      },
      answer: ({ request }) => (asked.push(request.url ?? ""), false),
    });
    expectComplete(await places.place().get("hub:org/plain"), files);
    // With HF_HUB_DISABLE_XET=0 huggingface_hub asks /api/models/REPOSITORY/xet-read-token/COMMIT for the address of a content-addressed store and a
    // token, and hf_xet fetches ranges of chunks there by `/v1/reconstructions/HASH`. None of it is asked for here.
    expect(asked.filter((url) => url.includes("xet"))).toEqual([]);
  }, 300_000);
});
