import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import type { StoredModel } from "@mrlm/spec/host";
import { modelStore } from "../../src/models/model-store.ts";
import { type Hub, type HubCall, type HubRepository, modelFiles, newCommit, sha256 } from "./hub.ts";

/** Cases at the same time: most of them wait. */
const AT_ONCE = 6;

/** Expected end of a case: the model, or an error whose message and hint have these texts. */
export interface Fault {
  readonly name: string;
  readonly repository: Omit<HubRepository, "commit">;
  readonly error?: { readonly code?: string; readonly message: RegExp; readonly hint: RegExp };
  readonly revision?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Places with caches of their own, in which models of one hub are fetched. */
export class HubPlaces {
  readonly #hub: Hub;
  readonly #root: string;
  readonly #python: string | undefined;
  #made = 0;

  constructor(hub: Hub, root: string, python: string | undefined) {
    this.#hub = hub;
    this.#root = root;
    this.#python = python;
  }

  /** Returns a new place. */
  place(env: NodeJS.ProcessEnv = {}) {
    const home = join(this.#root, `place-${this.#made++}`);
    const all: NodeJS.ProcessEnv = {
      ...process.env,
      MRLM_ENGINE_PYTHON: this.#python,
      MRLM_CACHE: join(home, "mrlm"),
      HF_HOME: join(home, "hf"),
      HF_ENDPOINT: this.#hub.url,
      HF_HUB_ETAG_TIMEOUT: "2",
      HF_HUB_DOWNLOAD_TIMEOUT: "2",
      ...env,
    };
    const notices: string[] = [];
    const store = modelStore({}, all);
    const get = (name: string, env: NodeJS.ProcessEnv = {}): Promise<StoredModel> =>
      modelStore({}, { ...all, ...env }).get(name, { notice: (line) => notices.push(line), progress: () => undefined });
    return { home, env: all, store, notices, get };
  }

  /** Runs a case. After an error nothing counts as stored; where `repair` is set, the same place then has the model of a hub without the fault. */
  async play({ name, repository, error, revision, env }: Fault, repair: boolean): Promise<void> {
    const id = `org/m${this.#made}`;
    const commit = newCommit();
    const { get, store, home } = this.place(env);
    this.#hub.add(id, { ...repository, commit });
    const asked = `hub:${id}${revision === undefined ? "" : `@${revision}`}`;
    const outcome = await get(asked).then(
      (model) => ({ model }),
      (thrown: { code: string; message: string; hint?: string }) => ({ thrown }),
    );
    try {
      if ("model" in outcome) {
        expect(error).toBeUndefined();
        expect(outcome.model).toMatchObject({ name: `hub:${id}`, commit });
        expectComplete(outcome.model, repository.files);
      } else {
        const { code, message, hint } = outcome.thrown;
        if (error === undefined) throw new Error(`unexpected ${code}: ${message} ${hint}`);
        expect({ code, message, hint }).toMatchObject({
          code: error.code ?? "MODEL_DOWNLOAD_FAILED",
          message: expect.stringMatching(error.message),
          hint: expect.stringMatching(error.hint),
        });
        if (!repair) return expect(existsSync(join(home, "mrlm", "models")) ? await store.list() : []).toEqual([]);
        const files = modelFiles();
        this.#hub.add(id, { files, commit: newCommit() });
        expectComplete(await get(`hub:${id}`, { HF_HUB_OFFLINE: "0", HF_TOKEN: "" }), files);
        expect(await store.list()).toHaveLength(1);
      }
    } catch (fault) {
      throw new Error(`${name}: ${(fault as Error).message}`, { cause: fault });
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }

  /** Plays all cases, and throws the failures together. */
  async playAll(count: number, faults: readonly Fault[]): Promise<void> {
    expect(faults).toHaveLength(count);
    const waiting = [...faults];
    const failures: string[] = [];
    const worker = async (): Promise<void> => {
      for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift())
        await this.play(fault, waiting.length % 5 === 0).catch((error: Error) => failures.push(error.message));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    if (failures.length > 0) throw new Error(failures.join("\n\n"));
  }
}

/** Asserts that a model is complete: each file has the bytes of the repository, and nothing else was taken from it. */
export function expectComplete({ directory }: StoredModel, files: Readonly<Record<string, Buffer>>): void {
  const present = readdirSync(directory).filter((name) => name !== "additional_chat_templates");
  expect(present.filter((name) => /\.(py|bin|md)$/.test(name))).toEqual([]);
  const weights = Object.keys(files).filter((name) => name.endsWith(".safetensors"));
  for (const name of ["config.json", "tokenizer.json", ...weights])
    expect(sha256(readFileSync(join(directory, name)))).toBe(sha256(files[name] as Buffer));
}

const FILES = ["config.json", "tokenizer.json", "model.safetensors"] as const;
export const SHARDS = ["model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors"] as const;
export const isContent = ({ step }: HubCall): boolean => step === "get" || step === "cdn";
export const NETWORK = {
  message: /could not be downloaded|damaged|again and again/,
  hint: /network|HF_ENDPOINT|again/,
};
export const DAMAGED = { message: /damaged, 2 times/, hint: /HF_ENDPOINT.*HTTPS_PROXY/ };

/** Makes cases of one fault for each file. */
export function ofFiles(
  name: string,
  make: (file: string) => Pick<HubRepository, "answer" | "headers" | "list">,
  error?: Fault["error"],
  files: readonly string[] = [...FILES, ...SHARDS],
): Fault[] {
  return files.map((file) => ({
    name: `${name}: ${file}`,
    repository: { files: modelFiles({ shards: file.includes("-of-") ? 3 : 1 }), ...make(file) },
    ...(error && { error }),
  }));
}

/** Answers for the content of one file as long as `when` holds. */
export const forContent =
  (file: string, when: (attempt: number) => boolean, answer: (call: HubCall) => void) =>
  (call: HubCall): boolean => {
    if (!isContent(call) || call.file !== file || !when(call.attempt)) return false;
    answer(call);
    return true;
  };
export const always = (_attempt: number): boolean => true;
export const once = (attempt: number): boolean => attempt === 0;
export const altered = (content: Buffer): Buffer => {
  const copy = Buffer.from(content);
  copy[copy.length >> 1] = (copy[copy.length >> 1] as number) ^ 0xff;
  return copy;
};
