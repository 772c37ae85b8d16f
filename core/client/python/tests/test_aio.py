from __future__ import annotations

import asyncio

import pytest
from conftest import Guarded

from mrlm_client import AsyncClient, MrlmError


def test_sessions_play_at_the_same_time(address: str) -> None:
    async def play(client: AsyncClient, seed: int) -> tuple[str, float]:
        async with await client.open("math@2") as session:
            first = await session.reset(seed=seed)
            return first.text, (await session.step("<answer>7</answer>")).reward()

    async def main() -> None:
        async with AsyncClient(address) as client:
            assert "math@2" in [each.id for each in await client.describe()]
            once = await asyncio.gather(*(play(client, seed) for seed in range(16)))
            assert once == [await play(client, seed) for seed in range(16)]

    asyncio.run(main())


def test_a_cancelled_step_ends_the_episode(address: str) -> None:
    async def main() -> None:
        async with AsyncClient(address) as client:
            session = await client.open("outcomes@1")
            await session.reset()
            assert (await session.step("x")).reward() == 1.0
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(session.step("wait"), 0.1)
            with pytest.raises(MrlmError, match="EPISODE_ENDED"):
                await session.step("x")
            await session.reset()
            assert (await session.step("end")).has_ended

    asyncio.run(main())


def test_calls_after_the_close_of_the_client_are_refused_with_what_to_do(address: str) -> None:
    async def main() -> None:
        client = AsyncClient(address)
        session = await client.open("outcomes@1")
        await session.reset()
        await client.close()
        with pytest.raises(MrlmError, match="has been closed"):
            await client.describe()
        with pytest.raises(MrlmError, match="SESSION_NOT_FOUND"):
            await session.step("x")

    asyncio.run(main())


def test_errors(address: str, guarded: Guarded) -> None:
    async def main() -> None:
        async with AsyncClient(address) as client:
            with pytest.raises(MrlmError, match="ENVIRONMENT_NOT_FOUND"):
                await client.open("nowhere@1")
            session = await client.open("outcomes@1")
            with pytest.raises(MrlmError, match="SEED_REFUSED"):
                await session.reset(seed=1)
        async with AsyncClient(guarded.address, token=guarded.token, tls=guarded.tls) as client:
            assert len(await client.describe()) == 1

    asyncio.run(main())
