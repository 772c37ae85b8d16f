import { pluginContract } from "@mrlm/testing";
import plugin from "../src/index.ts";

pluginContract({ plugins: [plugin] });
