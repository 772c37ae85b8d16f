import { describe, expect, test } from "@jest/globals";
import { pipFailure } from "../src/pip-failure.ts";
import { pipProgress } from "../src/pip-progress.ts";

const broken = (kind: string) =>
  `WARNING: Retrying (Retry(total=0)) after connection broken by '${kind}("...")': /simple/idna/`;
const none =
  "ERROR: Could not find a version that satisfies the requirement idna==3.20 (from versions: none)\nERROR: No matching distribution found for idna==3.20";

describe("pipFailure", () => {
  test.each([
    [
      "no network",
      `${broken("NameResolutionError")}\n${none}`,
      "SETUP_DOWNLOAD_FAILED",
      /could not be reached/,
      /HTTPS_PROXY.*PIP_INDEX_URL/,
    ],
    ["a proxy", `${broken("ProxyError")}\n${none}`, "SETUP_DOWNLOAD_FAILED", /proxy refused/, /HTTPS_PROXY/],
    [
      "a certificate",
      "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]'))",
      "SETUP_DOWNLOAD_FAILED",
      /not trusted/,
      /PIP_CERT/,
    ],
    ["no wheel", none, "SETUP_DOWNLOAD_FAILED", /no wheel for this Python/, /MRLM_PYTHON/],
    [
      "an altered file",
      "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
      "SETUP_DOWNLOAD_FAILED",
      /not the one that the lock file names/,
      /cache purge/,
    ],
    [
      "a full disk",
      "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
      "SETUP_FAILED",
      /disk is full/,
      /MRLM_CACHE/,
    ],
    ["anything else", "ERROR: Exception:\nTraceback ...\nValueError: boom", "SETUP_FAILED", /boom|Exception/, /log/],
  ])("%s", (_, output, code, message, hint) => {
    const error = pipFailure("idna", output, "/cache/setup.log");
    expect(error).toMatchObject({ code, hint: expect.stringMatching(hint) });
    expect(error.message).toMatch(message);
    expect(error.message).toContain("Log: /cache/setup.log");
  });

  test("quotes the line that decided and pip's errors, not its chatter", () => {
    const { message } = pipFailure(
      "idna",
      `Looking in indexes: x\nProgress 1 of 2\n${broken("ReadTimeoutError")}\n${none}`,
      "l",
    );
    expect(message).toMatch(/ReadTimeoutError.*No matching distribution/s);
    expect(message).not.toMatch(/Looking in|Progress/);
  });
});

describe("pipProgress", () => {
  const replay = (lines: readonly (string | number)[]): string[] => {
    let now = 0;
    const reported: string[] = [];
    const progress = pipProgress(
      "torch 2.13.0",
      (line) => reported.push(line),
      () => now,
    );
    for (const line of lines) {
      if (typeof line === "number") now += line;
      else progress.line(line);
    }
    return reported;
  };

  test("a download is reported in percent, at most every three seconds", () => {
    const lines = [
      "Collecting torch==2.13.0",
      "  Downloading torch-2.13.0-cp311.whl (190.0 MB)",
      "Progress 0 of 190000000",
      2_000,
      "Progress 50000000 of 190000000",
      1_500,
      "Progress 95000000 of 190000000",
      100,
      "Progress 96000000 of 190000000",
    ];
    expect(replay(lines)).toEqual(["torch 2.13.0: downloading torch, 50% of 190 MB"]);
  });

  test("a change of phase is reported at once", () => {
    expect(replay(["Installing collected packages: mpmath, sympy"])).toEqual(["torch 2.13.0: unpacking 2 packages"]);
    expect(replay([5_000, "Processing /mirror/hf_xet-1.8.0-cp38.whl"])).toEqual([
      "torch 2.13.0: 1 package so far, now hf_xet",
    ]);
    expect(replay([5_000, "Collecting huggingface-hub==2.4.0 (from -r base.lock (line 3))"])).toEqual([
      "torch 2.13.0: 1 package so far, now huggingface-hub",
    ]);
  });

  test("other lines are not reported", () => {
    expect(
      replay([9_000, "Looking in indexes: x", "WARNING: something", "Ignoring colorama: markers do not match"]),
    ).toEqual([]);
  });
});
