import { pluginContract } from "@mrlm/testing";
import plugin from "@mrlm/reward-model";

pluginContract({ plugins: [plugin] });
