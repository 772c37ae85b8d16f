import { afterAll, beforeAll, describe, test } from "@jest/globals";
import { locateEngine } from "../src/setup/locate-engine.ts";
import {
  breakOff,
  type Hub,
  type HubCall,
  type HubInfo,
  modelFiles,
  newCommit,
  refuse,
  sendContent,
  startHub,
} from "./support/hub.ts";
import {
  always,
  altered,
  DAMAGED,
  type Fault,
  forContent,
  HubPlaces,
  isContent,
  ofFiles,
  once,
} from "./support/hub-cases.ts";
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

describeIf(installed !== undefined)("a hub that answers wrongly, or refuses", () => {
  test("40 cases: false sizes, hashes and contents", async () => {
    const inList = (change: (sibling: HubInfo["siblings"][number]) => void) => (file: string) => ({
      list: (info: HubInfo) => (info.siblings.filter(({ rfilename }) => rfilename === file).forEach(change), info),
    });
    await places.playAll(40, [
      ...ofFiles(
        "alters a byte",
        (file) => ({
          answer: forContent(file, always, (call) => sendContent({ ...call, content: altered(call.content) })),
        }),
        DAMAGED,
      ),
      ...ofFiles("alters a byte once", (file) => ({
        answer: forContent(file, once, (call) => sendContent({ ...call, content: altered(call.content) })),
      })),
      ...ofFiles(
        "lists another size",
        inList((each) => {
          each.size += 1;
          if (each.lfs) each.lfs.size += 1;
        }),
        DAMAGED,
      ),
      ...ofFiles(
        "lists another hash",
        inList((each) => {
          each.blobId = "0".repeat(40);
          if (each.lfs) each.lfs.sha256 = "0".repeat(64);
        }),
        DAMAGED,
      ),
      ...ofFiles(
        "states another size in the header",
        (file) => ({
          headers: (headers, call) => {
            if (call.file === file) headers["X-Linked-Size"] = "12345";
          },
        }),
        DAMAGED,
      ),
      ...ofFiles("states another hash in the header", (file) => ({
        headers: (headers, call) => {
          if (call.file === file) {
            headers["ETag"] = `"${newCommit()}"`;
            delete headers["X-Linked-ETag"];
          }
        },
      })),
      ...ofFiles(
        "sends nothing",
        (file) => ({
          answer: forContent(
            file,
            always,
            ({ response }) => void response.writeHead(200, { "Content-Length": "0" }).end(),
          ),
        }),
        DAMAGED,
      ),
      ...ofFiles("continues with the wrong bytes", (file) => ({
        answer: (call: HubCall): boolean => {
          if (!isContent(call) || call.file !== file || call.attempt > 1) return false;
          if (call.attempt === 0) breakOff(call, call.content.length >> 1);
          else sendContent({ ...call, content: altered(Buffer.from(call.content).reverse()) });
          return true;
        },
      })),
    ]);
  }, 900_000);

  test("37 cases: refusals of the hub", async () => {
    const status = (step: HubCall["step"] | "content", code: number, reason?: string, when = always) => ({
      files: modelFiles(),
      answer: (call: HubCall): boolean => {
        const isAsked = step === "content" ? isContent(call) : call.step === step;
        if (!isAsked || !when(call.attempt) || (step !== "info" && call.file !== "model.safetensors")) return false;
        refuse(call.response, code, reason);
        return true;
      },
    });
    const of = (
      name: string,
      repository: Fault["repository"],
      message: RegExp,
      hint: RegExp,
      more: Partial<Fault> = {},
    ): Fault => ({
      name,
      repository,
      error: { message, hint },
      ...more,
    });
    const files = modelFiles();
    await places.playAll(37, [
      of("missing", status("info", 401, "RepoNotFound"), /shows no model .*no HF_TOKEN is set/, /Check the name/),
      of(
        "missing, with a token",
        status("info", 404, "RepoNotFound"),
        /shows no model .*the token in HF_TOKEN/,
        /HF_TOKEN/,
        { env: { HF_TOKEN: "hf_x" } },
      ),
      of("gated", status("info", 403, "GatedRepo"), /is gated.*no HF_TOKEN/, /Accept its terms at http.*HF_TOKEN/),
      of(
        "gated, with a token",
        status("info", 403, "GatedRepo"),
        /is gated.*the token in HF_TOKEN/,
        /Accept its terms/,
        { env: { HF_TOKEN: "hf_x" } },
      ),
      of("gated files", status("head", 403, "GatedRepo"), /is gated/, /Accept its terms/),
      of("gated files, without a code", status("head", 403), /403|could not be downloaded/, /HF_TOKEN|network/),
      of("no such revision", { files }, /has no revision 'v9'/, /branch, a tag or a whole commit/, { revision: "v9" }),
      of("no such commit", { files }, /has no revision/, /branch, a tag or a whole commit/, {
        revision: "a".repeat(40),
      }),
      of("forbidden", status("info", 403), /answered 403/, /HF_TOKEN/),
      of("bad request", status("info", 400), /answered 400/, /HF_ENDPOINT/),
      of("too many requests", status("info", 429), /answered 429/, /wait some minutes/),
      ...[500, 502, 503, 504].map((code) =>
        of(`list: ${code}`, status("info", code), new RegExp(`answered ${code}`), /fault of the hub/),
      ),
      ...[500, 502, 503, 504].map((code): Fault => ({
        name: `head: ${code} once`,
        repository: status("head", code, undefined, once),
      })),
      ...[500, 503].map((code) =>
        of(`content: ${code}`, status("content", code), new RegExp(`answered ${code}`), /fault of the hub/),
      ),
      of("content: 403", status("content", 403), /answered 403/, /HF_TOKEN/),
      of("content: 404", status("content", 404), /answered 404|lists a file/, /HF_ENDPOINT/),
      { name: "content: 429 once", repository: status("content", 429, undefined, once) },
      { name: "content: 408 once", repository: status("content", 408, undefined, once) },
      of(
        "a listed file is missing",
        {
          files,
          answer: ({ step, file, response }) =>
            step === "head" && file === "tokenizer.json" && (refuse(response, 404, "EntryNotFound"), true),
        },
        /lists a file .* does not have it/,
        /mirror/,
      ),
      of("the list is no JSON", { files, list: () => "<html>" }, /could not be downloaded/, /HF_ENDPOINT/),
      of("the list is an array", { files, list: () => "[]" }, /could not be downloaded/, /HF_ENDPOINT/),
      of(
        "the list has no names",
        { files, list: (info) => ({ ...info, siblings: [{}] }) },
        /could not be downloaded/,
        /HF_ENDPOINT/,
      ),
      of(
        "the list has no commit",
        { files, list: ({ sha: _, ...info }) => info },
        /could not be downloaded|commit/,
        /HF_ENDPOINT/,
      ),
      of(
        "the list is cut",
        { files, list: (info) => JSON.stringify(info).slice(0, 300) },
        /could not be downloaded/,
        /HF_ENDPOINT/,
      ),
      of(
        "the list does not come",
        { files, answer: ({ step }) => step === "info" },
        /could not be downloaded.*Timeout/,
        /network/,
      ),
      of(
        "the connection of the list ends",
        { files, answer: ({ step, request }) => step === "info" && (request.socket.destroy(), true) },
        /could not be downloaded/,
        /network/,
      ),
      of(
        "files of another commit",
        { files, headers: (headers) => void (headers["X-Repo-Commit"] = "b".repeat(40)) },
        /sent files of bbbb/,
        /HF_ENDPOINT/,
      ),
      of(
        "no header with the commit",
        { files, headers: (headers) => void delete headers["X-Repo-Commit"] },
        /could not be downloaded|commit/i,
        /HF_ENDPOINT/,
      ),
      of("offline", { files }, /HF_HUB_OFFLINE forbids/, /Unset HF_HUB_OFFLINE/, { env: { HF_HUB_OFFLINE: "1" } }),
      of(
        "a model larger than the disk",
        {
          files,
          list: (info) => (
            info.siblings.forEach(({ lfs }) => {
              if (lfs) lfs.size = 1e18;
            }),
            info
          ),
        },
        /1000000000\.00 GB are needed/,
        /HF_HOME/,
      ),
    ]);
  }, 900_000);

  test("20 cases: models that cannot be trained are refused before their weights are fetched", async () => {
    const of = (
      name: string,
      change: (files: Record<string, Buffer>) => void,
      message: RegExp,
      hint: RegExp,
      config: object = {},
    ): Fault => {
      const files = modelFiles({ config });
      change(files);
      const answer = ({ file, step }: HubCall): boolean => {
        if (file.endsWith(".safetensors") && step !== "info") throw new Error(`${name}: the weights were asked for`);
        return false;
      };
      return { name, repository: { files, answer }, error: { code: "MODEL_DIRECTORY_INVALID", message, hint } };
    };
    const none = (): void => undefined;
    const without =
      (...names: string[]) =>
      (files: Record<string, Buffer>): void =>
        names.forEach((name) => delete files[name]);
    const text =
      (name: string, value: string) =>
      (files: Record<string, Buffer>): void =>
        void (files[name] = Buffer.from(value));
    await places.playAll(20, [
      of("own code", none, /needs Python code of its own/, /has the code/, {
        model_type: "own",
        auto_map: { AutoModelForCausalLM: "modeling_own.Own" },
      }),
      of("unknown type", none, /'nothing', which transformers/, /newer transformers/, { model_type: "nothing" }),
      of("no type", none, /None, which transformers/, /Choose another/, { model_type: undefined }),
      of("an encoder of images", none, /generates no text/, /causal/, {
        model_type: "vit",
        architectures: ["ViTForImageClassification"],
      }),
      of("speech", none, /generates no text/, /causal/, { model_type: "wav2vec2", architectures: ["Wav2Vec2ForCTC"] }),
      ...["gptq", "awq", "fp8", "bitsandbytes"].map((method) =>
        of(`quantised: ${method}`, none, new RegExp(`quantised \\(${method}\\)`), /bfloat16/, {
          quantization_config: { quant_method: method },
        }),
      ),
      of("no configuration", without("config.json"), /no config.json/, /another repository/),
      of(
        "no weights as safetensors",
        without("model.safetensors"),
        /no weights as safetensors: it has pickles/,
        /refs\/pr/,
      ),
      of(
        "GGUF alone",
        (files) => {
          without("model.safetensors", "config.json")(files);
          files["m.gguf"] = Buffer.from("GGUF");
        },
        /it has GGUF files/,
        /model\.gguf/,
      ),
      of(
        "weights of other names",
        (files) => {
          without("model.safetensors", "pytorch_model.bin")(files);
          files["consolidated.safetensors"] = Buffer.from("x");
        },
        /other names/,
        /another repository/,
      ),
      of(
        "nothing",
        (files) => without(...Object.keys(files))(files),
        /no config.json: it is no model/,
        /another repository/,
      ),
      of("no tokenizer", without("tokenizer.json"), /no tokenizer.json/, /save_pretrained/),
      of("no template", text("tokenizer_config.json", "{}"), /no chat template/, /Instruct/),
      of(
        "no configuration of the tokenizer",
        without("tokenizer_config.json"),
        /no chat template/,
        /chat_template.jinja/,
      ),
      of("a configuration that is no JSON", text("config.json", "{"), /config.json is not JSON/, /revision/),
      of("a configuration that is a list", text("config.json", "[]"), /not a JSON object/, /revision/),
      of(
        "an index of shards that are not there",
        (files) => {
          without("model.safetensors")(files);
          files["model.safetensors.index.json"] = Buffer.from(
            '{"weight_map":{"a":"model-00001-of-00002.safetensors"}}',
          );
        },
        /lacks model-00001/,
        /incomplete/,
      ),
    ]);
  }, 900_000);
});
