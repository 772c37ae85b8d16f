import { Command } from "@commander-js/extra-typings";

export function declareGetModel() {
  return new Command("get")
    .description(
      "fetch a model of the Hugging Face Hub, or convert a GGUF file, and print its directory; quick when it is there",
    )
    .argument("<name>", "hub:ORG/NAME, hub:ORG/NAME@REVISION, or the path of a .gguf file");
}

export function declareListModels() {
  return new Command("list").description(
    "list the models that were fetched or converted, with commit, licence and size",
  );
}

export function declareRemoveModel() {
  return new Command("remove")
    .description("delete the files of a fetched or converted model")
    .argument("<name>", "as `mrlm models list` prints it, with @REVISION for one of several, or its directory");
}
