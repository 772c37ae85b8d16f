import mathPlugin from "@mrlm/environment-math";
import scorerMath from "@mrlm/scorer-math";
import { environmentContract } from "@mrlm/testing";

// Built-in environments with the plugins that provide what they require.
environmentContract({ plugins: [mathPlugin, scorerMath], environment: "math" });
