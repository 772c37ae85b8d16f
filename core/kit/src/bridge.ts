/** Entry for bridges: environments that play on a running server of another framework. */

export { argumentTypes, typeOf } from "./argument-types.ts";
export { BridgedEnvironment, type RemoteServer } from "./bridge/bridged-environment.ts";
export { bridgeOptions, tokenOf } from "./bridge/bridge-options.ts";
export { type Catalogue, catalogueOf, pathOf, type TaskPlace } from "./bridge/catalogue.ts";
export {
  type Fetch,
  HttpClient,
  type HttpRequest,
  MAX_ANSWER_BYTES,
  reasonOf,
  statusError,
  tooLarge,
} from "./bridge/http-client.ts";
export { contentOf, textOrJson } from "./bridge/content.ts";
export { readRemoteJson } from "./bridge/remote-json.ts";
export { readShape } from "./bridge/read-shape.ts";
export { ActionMistake, type RemoteEpisode, type RemoteStep, ServerFull } from "./bridge/remote-episode.ts";
export { whenAvailable } from "./bridge/when-available.ts";
export { pause } from "./bridge/within.ts";
