import { BigramEngine } from "@mrlm/testing";
import { writeBigram } from "./bigram-directory.ts";

/** Engine that writes its published weights for a `FakeVllm`. Samplers that close their connection to it leave it open. */
export class DirectoryTrainer extends BigramEngine {
  override async writeWeights(model: string, directory: string) {
    const { published, version, checksum } = this.published(model);
    writeBigram(directory, published);
    return { version, checksum: checksum.call(this.published(model)) };
  }
  override async close(): Promise<void> {
    // The run may still use it.
  }
}
