"""Harness of verifiers that asks the model once in each turn, by the server of verifiers that records the calls."""

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

__all__ = ["OneAnswer"]


class OneAnswer(vf.Harness[vf.HarnessConfig]):
    SUPPORTS_RESUME = True
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        _, prompt = self.resolve_prompt(data)
        given = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else prompt or []
        body = {"model": ctx.model, "messages": [message_to_wire(message) for message in given]}
        async with httpx.AsyncClient(timeout=None, headers={"authorization": f"Bearer {secret}"}) as client:
            (await client.post(f"{endpoint}/chat/completions", json=body)).raise_for_status()
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")
