import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { MrlmError, score, type StepResult, unscored } from "@mrlm/spec";
import type { SampleRequest, SampleResult } from "@mrlm/spec/host";
import {
  environmentRefCodec,
  errorCodec,
  sampleAddCodec,
  sampleFinishCodec,
  stepCodec,
  unitCodec,
  engineProto,
  samplerProto,
  environmentProto,
  fromInt64,
  serialise,
  toInt64,
} from "../src/index.ts";
import { ErrorDetail } from "../src/gen/mrlm/common/v1/error.ts";
import { expectSame } from "./through-bytes.ts";

const root = new URL("../../../", import.meta.url);
const folder = new URL("protos/fixtures/", root);
const bytesOfFile = (name: string): Buffer => readFileSync(new URL(`${name}.binpb`, folder));

/** Message type of each file. */
const TYPES: Record<string, string> = {
  "step-response": "mrlm.env.v1.StepResponse",
  "reset-request": "mrlm.env.v1.ResetRequest",
  "error-detail": "mrlm.common.v1.ErrorDetail",
  "sample-finish": "mrlm.sampler.v1.SampleFinish",
  "sample-add": "mrlm.sampler.v1.SampleAdd",
  unit: "mrlm.engine.v1.Unit",
};

describe("golden messages", () => {
  test("buf reads the same JSON from every binary file", () => {
    expect(readdirSync(folder).toSorted()).toEqual(
      Object.keys(TYPES)
        .flatMap((name) => [`${name}.binpb`, `${name}.json`])
        .toSorted(),
    );
    for (const [name, type] of Object.entries(TYPES)) {
      const args = [
        "convert",
        "protos",
        "--type",
        type,
        "--from",
        `protos/fixtures/${name}.binpb`,
        "--to",
        "-#format=json",
      ];
      const json = execFileSync("node_modules/.bin/buf", args, { cwd: root, encoding: "utf8" });
      expect(JSON.parse(json)).toEqual(JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")));
    }
  });

  test("a step's result", () => {
    const step: StepResult = {
      observation: {
        agent: "player-1",
        messages: [
          {
            role: "tool",
            name: "world",
            parts: [
              { type: "text", text: "Grüße, 世界 🎲" },
              { type: "thinking", text: "hm" },
              { type: "image", mediaType: "image/png", source: { data: Uint8Array.of(0x89, 0x50, 0x4e, 0x47) } },
              { type: "image", mediaType: "image/webp", source: { url: "https://example.org/a.webp" } },
              { type: "tool-call", id: "call-1", name: "add", arguments: { a: 1, b: [2, null] } },
              { type: "malformed-call", text: "<tool_call>{a", format: "hermes", error: "Expected a key.", offset: 12 },
              { type: "tool-result", id: "call-1", name: "add", content: [{ type: "text", text: "3" }], isError: true },
            ],
          },
        ],
        tools: [{ name: "add", description: "Adds.", parameters: { type: "object" } }],
        info: { turn: 1 },
      },
      rewards: {
        "player-1": score(0.5, { correct: 1, format: -0.5 }),
        "player-2": unscored("SCORER_FAILED", "the judge is down"),
      },
      terminated: { "player-1": false, "player-2": true },
      truncated: { "player-1": true, "player-2": false },
      info: {},
    };
    expectSame(stepCodec.decode(environmentProto.StepResponse.decode(bytesOfFile("step-response"))), step);
    // Entries of maps may have any order, so the decoded messages are compared.
    expectSame(
      stepCodec.decode(
        environmentProto.StepResponse.decode(serialise(environmentProto.StepResponse, stepCodec.encode(step))),
      ),
      step,
    );
  });

  test("a reset", () => {
    const request = environmentProto.ResetRequest.decode(bytesOfFile("reset-request"));
    expectSame(environmentRefCodec.decode(request.environment), { id: "math@2", options: { difficulty: 2 } });
    expect(request.seed !== undefined && fromInt64(request.seed, "seed")).toBe(Number.MIN_SAFE_INTEGER);
    const again: environmentProto.ResetRequest = {
      sessionId: Uint8Array.from({ length: 16 }, (_, i) => i),
      epoch: 3,
      environment: environmentRefCodec.encode({ id: "math@2", options: { difficulty: 2 } }),
      seed: toInt64(Number.MIN_SAFE_INTEGER, "seed"),
      task: "train/17",
      leaseMs: 60_000,
      deadlineMs: 5_000,
      episode: new Uint8Array(),
    };
    expect(serialise(environmentProto.ResetRequest, again).equals(bytesOfFile("reset-request"))).toBe(true);
  });

  test("an error", () => {
    const error = new MrlmError("RESOURCE_EXHAUSTED", "The server holds its maximum of 8 sessions.", {
      retryDelayMs: 250,
    });
    expect(errorCodec.decode(ErrorDetail.decode(bytesOfFile("error-detail")))).toEqual(error);
    expect(serialise(ErrorDetail, errorCodec.encode(error)).equals(bytesOfFile("error-detail"))).toBe(true);
  });

  test("a sampled sequence, and one to sample", () => {
    const result: SampleResult = {
      tokens: Int32Array.of(1, -1, 7),
      logprobs: Float32Array.of(-0.5, -0.125, -1),
      versions: Int32Array.of(4, 4, 5),
      stopReason: "stop",
      truncatedSupport: true,
    };
    const id = 2n ** 64n - 1n;
    expectSame(sampleFinishCodec.decode(samplerProto.SampleFinish.decode(bytesOfFile("sample-finish"))), result);
    expect(
      serialise(samplerProto.SampleFinish, sampleFinishCodec.encode(id, result)).equals(bytesOfFile("sample-finish")),
    ).toBe(true);
    const request: SampleRequest = {
      prompt: Int32Array.of(0, 1),
      params: { temperature: 0.7, topP: 0.9, topK: 40, maxTokens: 64, minTokens: 1, stopTokenIds: [2, 3] },
      key: 2n ** 64n - 59n,
    };
    expectSame(sampleAddCodec.decode(samplerProto.SampleAdd.decode(bytesOfFile("sample-add"))), request);
    expect(
      serialise(samplerProto.SampleAdd, sampleAddCodec.encode(7n, request)).equals(bytesOfFile("sample-add")),
    ).toBe(true);
  });

  test("a unit with gradients known beforehand, cut at the boundaries of its sequences", () => {
    const unit = {
      sequences: [
        { tokens: Int32Array.of(1, 2, 3), mask: Uint8Array.of(0, 1, 1) },
        { tokens: Int32Array.of(4, 5), mask: Uint8Array.of(0, 1) },
      ],
    };
    const gradients = { logprob: Float32Array.of(1, -2, 0.5) };
    const received = engineProto.Unit.decode(bytesOfFile("unit"));
    expectSame(unitCodec.decode(received), unit);
    expectSame(unitCodec.decodeGradients(received), gradients);
    expect(serialise(engineProto.Unit, unitCodec.encode(unit, gradients)).equals(bytesOfFile("unit"))).toBe(true);
  });
});
