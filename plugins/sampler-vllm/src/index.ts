/** vLLM servers as samplers. */
import { definePlugin } from "@mrlm/kit";
import { MrlmError } from "@mrlm/spec";
import type { SamplerSource } from "@mrlm/spec/host";
import { VllmHttp } from "./http.ts";
import { type VllmOptions, vllmOptions } from "./options.ts";
import { VllmSampler } from "./vllm-sampler.ts";
import { VllmServer } from "./vllm-server.ts";

/** `vllm`: a running server of vLLM. */
export const vllm: SamplerSource<VllmOptions> = {
  options: vllmOptions,
  async open({ url, options, signal }) {
    const key = options.api_key_env === undefined ? undefined : process.env[options.api_key_env];
    if (options.api_key_env !== undefined && key === undefined)
      throw new MrlmError("OPTIONS_INVALID", `The environment has no variable ${options.api_key_env}.`);
    const http = new VllmHttp(url, key);
    try {
      const server = new VllmServer(http, options.update_seconds * 1000);
      const [version, maxTokens] = [await server.version(), await server.maxTokens()];
      signal.throwIfAborted();
      // A server that an earlier process left asleep or paused would answer nothing.
      if (options.sleep && (await server.isAsleep())) await server.wake();
      await server.resume();
      await server.checkLogprobs();
      await server.countTokens();
      const [sequenceMs, stallMs] = [options.sequence_seconds * 1000, options.stall_seconds * 1000];
      return new VllmSampler({ http, server }, { version, maxTokens, sequenceMs, stallMs, sleeps: options.sleep });
    } catch (error) {
      await http.close();
      throw error;
    }
  },
};

export default definePlugin({ name: "@mrlm/sampler-vllm", samplers: { "vllm@1": () => vllm } });
