// Dry runs of the configurations for GPUs, on a machine that has none: each model is its configuration and a tokenizer at a hub that sends no weights.
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { locateEngine } from "@mrlm/engine-torch";
import { characterTokenizerFiles } from "@mrlm/kit/renderer";
import { type Hub, newCommit, startHub } from "../../algorithms/engine-torch/test/support/hub.ts";
import { describeWithEngine } from "./support/engine.ts";
import { run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

/** Sizes of the models' config.json. */
const WIDTHS = ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads"];
const QWEN = {
  "Qwen/Qwen2.5-0.5B-Instruct": { sizes: [896, 4864, 24, 14, 2], vocab_size: 151_936, tie_word_embeddings: true },
  "Qwen/Qwen2.5-1.5B-Instruct": { sizes: [1536, 8960, 28, 12, 2], vocab_size: 151_936, tie_word_embeddings: true },
  "Qwen/Qwen2.5-7B-Instruct": { sizes: [3584, 18_944, 28, 28, 4], vocab_size: 152_064, tie_word_embeddings: false },
};
const PRINTABLE = Array.from({ length: 95 }, (_, i) => String.fromCodePoint(32 + i)).join("");

const directory = temporaryDirectory();
const data = join(directory, "train.jsonl");
/** Files of models that the hub was asked for. */
const asked = new Set<string>();
let hub: Hub;

beforeAll(async () => {
  const rows = Array.from({ length: 100 }, (_, i) => ({ question: `What is ${i} + 1?`, answer: `#### ${i + 1}` }));
  writeFileSync(data, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  hub = await startHub();
  const tokenizer = characterTokenizerFiles({ alphabet: `${PRINTABLE}\n`, tags: [] });
  for (const [name, { sizes, ...others }] of Object.entries(QWEN)) {
    const config = {
      ...{ model_type: "qwen2", architectures: ["Qwen2ForCausalLM"], max_position_embeddings: 32_768, ...others },
      ...Object.fromEntries(WIDTHS.map((width, i) => [width, sizes[i]])),
    };
    hub.add(name, {
      commit: newCommit(),
      files: {
        ...Object.fromEntries(Object.entries(tokenizer).map(([file, content]) => [file, Buffer.from(content)])),
        "config.json": Buffer.from(JSON.stringify(config)),
        "model.safetensors": Buffer.alloc(1000),
      },
      answer: ({ file }) => void asked.add(file) as never,
    });
  }
});
afterAll(() => hub.close());

describeWithEngine("dry runs for GPUs (skipped where `npm run setup` has not run)", () => {
  const dryRun = async (name: string, device: string, ...set: string[]) => {
    const home = mkdtempSync(join(directory, "home-"));
    const more = [`environments.0.options.data.path=${data}`, ...set].flatMap((text) => ["--set", text]);
    const config = join("examples/gsm8k", name);
    return run(["train", "--config", config, "--output", home, "--dry-run", "--assume-device", device, ...more], {
      MRLM_ENGINE_PYTHON: (await locateEngine())?.executable,
      MRLM_CACHE: join(home, "mrlm"),
      HF_HOME: join(home, "hf"),
      HF_ENDPOINT: hub.url,
    });
  };

  test.each([
    ["gsm8k.yaml", "l4"],
    ["gsm8k.yaml", "h100"],
    ["gsm8k-1.5b.yaml", "h100"],
    ["gsm8k-7b-lora.yaml", "a100"],
    ["gsm8k-7b.yaml", "h100x8"],
    // Data 2 x context 2 x tensor 2.
    ["gsm8k-7b.yaml", "h100x8", "engine.parallel={context: 2, tensor: 2}"],
  ])(
    "%s fits on %s, without its weights %s",
    async (name, device, ...set) => {
      const { code, stderr } = await dryRun(name, device, ...set);
      expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
      const [, all = "", free = ""] =
        new RegExp(`^all +([\\d.]+) GiB +([\\d.]+) GiB free \\(CUDA, ${device} assumed`, "m").exec(stderr) ?? [];
      console.info(`${name} on ${device}: ${all} of ${free} GiB`);
      expect(Number(all)).toBeGreaterThan(0);
      expect(Number(all)).toBeLessThan(Number(free));
      // It fits with the tokens that the engine would take, or a group.
      expect(stderr).not.toContain("micro_batch_tokens is lowered");
      expect([...asked]).not.toContain("model.safetensors");
    },
    240_000,
  );

  test("7B in full does not fit on one H100, and the error lists what to change", async () => {
    const { code, stderr } = await dryRun("gsm8k-7b.yaml", "h100", "distributed.nproc_per_node=1");
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error MEMORY_INSUFFICIENT: grpo needs about 1\d\d\.\d GiB .*CUDA, h100 assumed/m);
    expect(stderr).toMatch(/model\.lora.*strategy: fsdp/);
  }, 240_000);
});

test.each([
  ["h1000", /names no known GPU.*h100x8/s],
  ["h100x4", /nproc_per_node starts 8 processes.*h100x8/s],
])(
  "%s is refused before anything starts",
  async (device, message) => {
    const given = ["train", "--config", "examples/gsm8k/gsm8k-7b.yaml", "--dry-run", "--assume-device", device];
    expect(await run(given)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  },
  30_000,
);
