"""Runs programs by the client of SandboxFusion, and prints the results as one line of JSON.

python check.py URL
"""

import base64
import json
import sys
from concurrent.futures import ThreadPoolExecutor

from sandbox_fusion import RunCodeRequest, run_code, set_sandbox_endpoint


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def main() -> None:
    set_sandbox_endpoint(sys.argv[1])

    def run(code: str, language: str = "python", **options: object) -> list[object]:
        answer = run_code(RunCodeRequest(code=code, language=language, **options), max_attempts=1)
        result = answer.run_result
        assert result is not None
        return [answer.status.value, result.status.value, result.return_code, result.stdout]

    copied = run_code(
        RunCodeRequest(
            code="open('out', 'w').write(open('d/in').read() * 2)",
            language="python",
            files={"d/in": encoded("é")},
            fetch_files=["out"],
        )
    )
    try:
        refused = run_code(RunCodeRequest(code="", language="cpp"), max_attempts=1).message
    except Exception as error:
        refused = str(error)
    with ThreadPoolExecutor(64) as pool:
        squares = list(pool.map(lambda i: run(f"print({i} ** 2)")[3], range(64)))
    print(
        json.dumps(
            {
                "success": run("print(input())", stdin="in"),
                "error": run("import sys; sys.exit(3)"),
                "timeout": run("while True: pass", run_timeout=1),
                "nodejs": run("console.log(6 * 7)", "nodejs"),
                "typescript": run("const n: number = 42; console.log(n)", "typescript"),
                "fetched": copied.files == {"out": encoded("éé")},
                "refused": "cpp" in refused,
                "squares": squares == [f"{i * i}\n" for i in range(64)],
            }
        )
    )


main()
