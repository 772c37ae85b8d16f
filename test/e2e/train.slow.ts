import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { loadConfig, MetricsFile } from "@mrlm/runtime";
import { EpisodeReader } from "@mrlm/store";
import { describeWithEngine, installed } from "./support/engine.ts";
import { type Finished, run } from "./support/mrlm.ts";
import { runHere } from "./support/run-here.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const LOADS = `
import sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
model = AutoModelForCausalLM.from_pretrained(sys.argv[1])
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
ids = tokenizer.apply_chat_template([{"role": "user", "content": "sort 21"}], add_generation_prompt=True, return_tensors="pt", return_dict=True)["input_ids"]
print(type(model).__name__, bool(torch.isfinite(model(ids).logits).all()), "".join(tokenizer.convert_ids_to_tokens(tokenizer("sort 21")["input_ids"])))
`;

describeWithEngine(
  "mrlm train, from the configuration to the model (skipped where `npm run setup` has not run)",
  () => {
    const output = temporaryDirectory();
    const config = writeConfig(output, { ...TINY, stages: TINY.stages.map((stage) => ({ ...stage, steps: 3 })) });
    let finished: Finished;
    let directory: string;
    const path = (name: string): string => join(directory, name);

    beforeAll(async () => {
      finished = await run(["train", "--config", config, "--output", output]);
      expect([finished.code, finished.stderr]).toEqual([0, expect.anything()]);
      directory = /^run directory: (\S+)$/m.exec(finished.stdout)?.[1] ?? "";
    }, 300_000);

    test("U16: it prints what each stage does, and ends with a curve, the table, two examples and the next commands; details are in the log", () => {
      for (const line of [
        /^starting the environment server$/m,
        /^starting the engine/m,
        /^engine on cpu .* deterministic mode$/m,
        /^stage 1 of 2, sft \(3 steps\): imitates /m,
        /^stage 2 of 2, grpo \(3 steps\): plays /m,
        /^sft +3\/3 +loss/m,
        /^grpo 3\/3 +reward/m,
        /^evaluation \(start, .*greedy accuracy/m,
      ])
        expect(finished.stderr).toMatch(line);
      for (const line of [
        /^mean reward, steps 4 to 6$/m,
        /^math@2, 8 held-out tasks \(4 different\)$/m,
        /greedy accuracy +sampled reward +cut answers$/m,
        /^before training +0 /m,
        /^after sft +3 /m,
        /^after grpo +6 /m,
        /^ {2}math@2, task eval\/\d+\n {4}user +sort .*\n {4}before +(.+\n)+? {4}after /m,
        /^finished after 6 steps, /m,
      ])
        expect(finished.stdout).toMatch(line);
      const commands = finished.stdout.split("Next:\n")[1]?.trimEnd().split("\n") ?? [];
      expect(
        commands.filter((line) => !line.startsWith("  # ")).map((command) => command.replace(directory, "RUN")),
      ).toEqual([
        "  npx mrlm show RUN --best",
        "  npx mrlm render --model RUN --environment math",
        "  npx mrlm eval --model RUN --environment math",
        "  npx mrlm doctor RUN",
        "  npx mrlm train --config RUN/config.yaml --seed 1",
        "  npx mrlm serve --environments math",
        "  npx mrlm ui RUN",
      ]);
      for (const detail of [/^memory of /m, /^time +spent/m])
        expect(finished.stdout + finished.stderr).not.toMatch(detail);
      const log = readFileSync(path("train.log"), "utf8");
      for (const line of [
        / starting the environment server$/m,
        / memory of grpo, estimated/,
        / time +spent +share$/m,
        /^all +\S.* 100 %$/m,
      ])
        expect(log).toMatch(line);
    });

    test("the run directory holds what the reference names", () => {
      expect(loadConfig(path("config.yaml")).config).toMatchObject({ name: "tiny", seed: 3, engine: { threads: 2 } });
      expect(readFileSync(path("config.source.yaml"), "utf8")).toBe(readFileSync(config, "utf8"));
      expect(JSON.parse(readFileSync(path("run.json"), "utf8"))).toMatchObject({
        status: "finished",
        seed: 3,
        versions: { engine: { device: "cpu", deterministic: true } },
      });
      expect(new MetricsFile(path("metrics.jsonl")).rows().map(({ kind, step }) => `${kind} ${step}`)).toEqual([
        "evaluation 0",
        "iteration 1",
        "iteration 2",
        "iteration 3",
        "evaluation 3",
        "iteration 4",
        "iteration 5",
        "iteration 6",
        "evaluation 6",
      ]);
      const store = new EpisodeReader({ path: path("episodes.sqlite") });
      expect(Array.from(store.read(), ({ step }) => step)).toEqual(
        [4, 5, 6].flatMap((step) => Array<number>(32).fill(step)),
      );
      store.close();
      for (const name of [
        "tokenizer/tokenizer.json",
        "checkpoints/00000006-2/manifest.json",
        "engine.log",
        "model/config.json",
      ])
        expect(() => readFileSync(path(name))).not.toThrow();
      // A checkpoint has a Hugging Face directory, of which the last is the run's model.
      for (const name of ["config.json", "model.safetensors", "tokenizer.json"])
        expect(readFileSync(path(`checkpoints/00000006-2/model/${name}`))).toEqual(readFileSync(path(`model/${name}`)));
    });

    test("AutoModelForCausalLM and AutoTokenizer load the model", () => {
      const output = execFileSync(installed?.executable as string, ["-c", LOADS, path("model")], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        env: { ...process.env, HF_HUB_OFFLINE: "1" },
      });
      expect(output.trim()).toMatch(/^Qwen2ForCausalLM True sort.21$/);
    });

    test("the command that evaluates works: an evaluation takes what it needs from the run", async () => {
      const { code, stdout, stderr } = await run([
        "eval",
        "--json",
        "--model",
        path("model"),
        "--environment",
        "math",
        "--num-episodes",
        "8",
      ]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      const last = new MetricsFile(path("metrics.jsonl")).rows().at(-1);
      expect(JSON.parse(stdout.split("\n", 1)[0] ?? "")).toMatchObject({
        ...{ event: "evaluation", environment: "math@2", tasks: 8, greedy: last?.["greedy"] },
      });
    }, 300_000);

    test("U4: show prints what the model wrote, render what it read", async () => {
      const best = await run(["show", directory, "--best", "-n", "1"]);
      expect([best.code, best.stdout]).toEqual([
        0,
        expect.stringMatching(
          /^task (train|eval)\/\d+ · math@2 · .*\n {2}reward [\d.]+ \(correct .*\); terminated\n {2}graded by math@2 after turn 1: .*\n {2}user +sort \d+\n {2}assistant +\S/,
        ),
      ]);
      const { events } = await run(["show", directory, "--json", "--task", "eval/0", "-n", "99"]);
      // Later ones are of `mrlm eval`.
      expect(events.slice(0, 6).map(({ event, step, stage }) => [event, step, stage])).toEqual(
        [0, 3, 6].flatMap((step) => ["greedy", "sampled"].map((kind) => ["episode", step, `evaluation/${kind}`])),
      );
      expect(await runHere(["show", directory, "--task", "evil/0"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Did you mean "eval/0"?'),
      });
      expect(await runHere(["show", join(output, "nothing")])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^error RUN_NOT_FOUND/),
      });

      const render = ["render", "--model", directory, "--environment", "math", "--task"];
      const [prompt] = (await run([...render, "eval/0", "--json"])).events as unknown as {
        text: string;
        tokens: number[];
        pieces: string[];
      }[];
      // The very tokens that the run's first policy was shown.
      const store = new EpisodeReader({ path: path("episodes.sqlite") });
      const [played] = store.find({ task: "eval/0", order: "newest", limit: 1 });
      store.close();
      const shown = Array.from(played?.trajectory.agents["agent"]?.segments[0]?.tokens ?? []).slice(
        0,
        prompt?.tokens.length,
      );
      expect([prompt?.tokens, prompt?.pieces.join("")]).toEqual([shown, prompt?.text]);
      expect((await runHere([...render, "eval/0", "--ids"])).stdout).toMatch(
        /^math@2, task eval\/0: \d+ tokens of 64 positions\n\ntext\n<\|user\|>sort \d+.*\n\ntokens\nposition +id +token\n/,
      );
      expect(await runHere([...render, "evl/0"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Did you mean "eval/0"?'),
      });
    }, 300_000);

    test("U1, U17: answers cut by max_tokens are in the table and the file of eval, and doctor finds them; -n counts tasks", async () => {
      const file = join(output, "cut.json");
      const { code, stdout, stderr } = await run([
        "eval",
        "--model",
        directory,
        "--environment",
        "math",
        "-n",
        "2",
        "--max-tokens",
        "1",
        "-o",
        file,
      ]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      expect(stdout).toMatch(/^cut answers +100 %/m);
      expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
        tasks: 2,
        greedy: { episodes: 2, cut: 1, truncated: 0 },
      });
      expect(await runHere(["doctor", file])).toMatchObject({
        code: 4,
        stdout: expect.stringContaining("max_tokens cut 100 % of the answers"),
      });
      expect(
        await runHere(["eval", "--model", directory, "--environment", "math", "-n", "2", "--num-episodes", "2"]),
      ).toMatchObject({ code: 2, stderr: expect.stringContaining("two names of one number") });
    }, 300_000);
  },
);
