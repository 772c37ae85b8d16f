import debatePlugin from "@mrlm/environment-debate";
import mathPlugin from "@mrlm/environment-math";
import judgeRules from "@mrlm/judge-rules";
import scorerMath from "@mrlm/scorer-math";
import { environmentContract } from "@mrlm/testing";

// Built-in environments with the plugins that provide what they require.
environmentContract({ plugins: [mathPlugin, scorerMath], environment: "math" });
environmentContract({ plugins: [debatePlugin, judgeRules], environment: "debate" });
