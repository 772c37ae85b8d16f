import { afterAll, beforeAll } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { type ChatServer, policyContract, startChatServer } from "@mrlm/testing";
import { EndpointSource, endpointOptions } from "../src/index.ts";

let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer(({ body }) => `answer to ${body.messages.length} messages`);
});
afterAll(() => server.close());

/** The server has another port in each run, so the source adds it to the options of the player. */
class LoopbackSource extends EndpointSource {
  override open(...[episode, given]: Parameters<EndpointSource["open"]>): ReturnType<EndpointSource["open"]> {
    return super.open(episode, { ...given, base_url: server.baseUrl });
  }
}

policyContract({
  name: "policy:openai@1",
  make: () => new LoopbackSource() as never,
  options: endpointOptions.parse({ model: "m" }) as never,
  observations: ["a", "b", "c"].map((text) => ({ messages: [textMessage("user", text)] })),
});
