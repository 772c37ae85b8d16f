from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable

import pytest
from conftest import Guarded, readme_blocks

from mrlm_client import Client, Message, MrlmError, Score, Text, Tls, ToolCall, ToolResult, Unscored, UnscoredError
from mrlm_client.gen.mrlm.env.v1.environment_pb2 import CloseRequest
from mrlm_client.peer import Refusals

PLAIN = "127.0.0.1:50051"


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(MrlmError) as caught:
        call()
    return caught.value.code


def test_describe(client: Client) -> None:
    by_id = {each.id: each for each in client.describe()}
    assert {"math@2", "tools@2", "nim@1", "relay@1", "outcomes@1"} <= set(by_id)
    assert by_id["math@2"].takes_seed
    assert by_id["math@2"].splits["train"] > 1_000
    assert not by_id["outcomes@1"].takes_seed
    assert [role.id for role in by_id["nim@1"].roles] == ["first", "second"]


def test_episode_with_tools(client: Client) -> None:
    session = client.open("tools@2")
    first = session.reset(task="train/1", seed=3)
    assert first.tools is not None
    assert "calculator" in [tool.name for tool in first.tools]
    calls = [ToolCall("calculator", {"expression": "6*7"}, "a"), ToolCall("calculator", {"expression": "1+1"}, "b")]
    result = session.step(calls)
    parts = [part for message in result.observation.messages for part in message.parts]
    texts = [(part.id, part.parts) for part in parts if isinstance(part, ToolResult)]
    assert texts == [("a", (Text("42"),)), ("b", (Text("2"),))]
    last = session.step(Message("assistant", (Text("<answer>nothing</answer>"),)))
    assert last.has_ended
    assert last.terminated == {"agent": True}
    assert isinstance(last.rewards["agent"], Score)
    assert last.reward() == last.reward("agent") == 0.0


def test_equal_seeds_give_equal_episodes(client: Client) -> None:
    first, second = client.open("math@2"), client.open("math@2")
    assert first.reset(seed=7) == second.reset(seed=7) == first.reset(seed=7)
    assert first.reset(seed=8) != second.reset(seed=7)


def test_an_unscored_reward_is_an_error_with_the_result_of_the_step(client: Client) -> None:
    session = client.open("outcomes@1")
    session.reset()
    result = session.step("unscored")
    assert isinstance(result.rewards["agent"], Unscored)
    with pytest.raises(UnscoredError) as caught:
        result.reward()
    assert caught.value.code == "JUDGE_FAILED"
    assert caught.value.result is result
    assert session.step("x").reward() == 1.0


def test_an_unreadable_answer_is_wrong_and_the_grade_says_why(client: Client) -> None:
    session = client.open("math@2")
    session.reset(task="train/0")
    result = session.step("<answer>\\square</answer>")
    assert isinstance(result.rewards["agent"], Score)
    assert result.reward() == 0.0
    [grade] = result.info["judgements"]
    assert (grade["scorer"], grade["verdict"], grade["extracted"]) == ("math@2", "unreadable", "\\square")
    assert grade["reason"]


def test_rewards_of_several_agents(client: Client) -> None:
    session = client.open("relay@1")
    assert session.reset(seed=1).agent == session.agent == "one"
    result = session.step("x")
    assert (result.reward("one"), result.reward("two"), result.reward()) == (0.0, 1.0, 2.0)
    assert session.agent == "two"
    assert session.step("", finish_reason="exhausted").truncated["two"]


def test_errors_carry_stable_codes(client: Client, address: str) -> None:
    session = client.open("outcomes@1")
    assert code_of(lambda: session.step("too early")) == "EPISODE_ENDED"
    assert code_of(lambda: session.reset(seed=1)) == "SEED_REFUSED"
    assert code_of(lambda: client.open("math@2").reset(seed=2**60)) == "OPTIONS_INVALID"
    assert code_of(lambda: client.open("math@2").reset(task="train/-1")) == "TASK_NOT_FOUND"
    assert code_of(lambda: client.open("nowhere@1")) == "ENVIRONMENT_NOT_FOUND"
    assert code_of(lambda: client.open("math@2", {"unknown": 1})) == "OPTIONS_INVALID"
    assert code_of(lambda: client.open("math@2", {"unknown": float("nan")})) == "OPTIONS_INVALID"
    session.reset()
    assert code_of(lambda: session.step("x", agent="second")) == "STEP_OUT_OF_ORDER"
    assert code_of(lambda: session.step(7)) == "OPTIONS_INVALID"  # type: ignore[arg-type]
    assert session.step("x").reward() == 1.0
    assert code_of(lambda: session.step("fail")) == "ENVIRONMENT_FAILED"
    assert code_of(lambda: session.step("x")) == "EPISODE_ENDED"
    session.reset()
    session.step("end")
    assert code_of(lambda: session.step("x")) == "EPISODE_ENDED"
    session.close()
    session.close()
    assert code_of(session.reset) == "SESSION_NOT_FOUND"
    assert code_of(lambda: Client("127.0.0.1")) == "CONFIG_INVALID"
    assert code_of(lambda: Client(PLAIN, tls=Tls(cert=b""))) == "CONFIG_INVALID"
    assert code_of(Client("127.0.0.1:1", connect_s=0.2).describe) == "SERVER_UNAVAILABLE"
    assert code_of(Client(address, tls=Tls()).describe) == "TLS_FAILED"


def test_calls_after_the_close_of_the_client_are_refused_with_what_to_do(address: str) -> None:
    client = Client(address)
    session = client.open("outcomes@1")
    session.reset()
    client.close()
    client.close()
    for call in (client.describe, lambda: client.open("outcomes@1")):
        with pytest.raises(MrlmError, match="has been closed") as raised:
            call()
        assert (raised.value.code, raised.value.hint) == ("CANCELLED", "Make another client for further calls.")
    assert code_of(session.reset) == "SESSION_NOT_FOUND"
    assert code_of(lambda: session.step("x")) == "SESSION_NOT_FOUND"


def test_a_session_makes_one_call_at_a_time_and_close_ends_it(client: Client) -> None:
    session = client.open("outcomes@1")
    session.reset()
    codes: list[str] = []
    waiting = threading.Thread(target=lambda: codes.append(code_of(lambda: session.step("wait"))))
    waiting.start()
    while not session.state.is_busy:
        pass
    assert code_of(lambda: session.step("x")) == "SESSION_BUSY"
    session.close()
    waiting.join()
    assert codes == ["CANCELLED"]


def test_the_lease_of_an_idle_session_is_renewed_until_the_server_has_lost_it(address: str) -> None:
    with Client(address, lease_s=1.0) as client:
        session = client.open("math@2")
        session.reset(seed=1)
        session.state.used_at = float("-inf")
        while session.state.used_at == float("-inf"):
            time.sleep(0.01)
        session.step("7")
        client._call("Close", CloseRequest(session_id=session.state.id))
        session.state.used_at = float("-inf")
        while session.state.is_open:
            time.sleep(0.01)
        assert code_of(lambda: client.open("math@2").step("7")) == "EPISODE_ENDED"
        assert session.reset(seed=2).agent == "agent"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeats refused resets sooner than the server states, which is up to 5 seconds."""

    class Impatient(Refusals):
        def pause_after(self, error: MrlmError) -> float:
            return min(0.05, super().pause_after(error))

    monkeypatch.setattr("mrlm_client.client.Refusals", Impatient)


def test_a_session_that_the_program_drops_is_closed(guarded: Guarded, impatient: None) -> None:
    """The server has one place."""
    with Client(guarded.address, token=guarded.token, tls=guarded.tls, lease_s=1.0) as client:
        client.open("math@2").reset(seed=1)
        gc.collect()
        assert client.open("math@2").reset(seed=2).agent == "agent"


def test_a_reset_is_repeated_until_a_full_server_has_a_place(guarded: Guarded, impatient: None) -> None:
    """The server has one place and no queue."""

    def connect(admission_s: float) -> Client:
        return Client(guarded.address, token=guarded.token, tls=guarded.tls, admission_s=admission_s)

    with connect(0) as first, connect(0) as refused, connect(60) as patient:
        taken = first.open("math@2")
        taken.reset(seed=1)
        assert code_of(refused.open("math@2").reset) == "RESOURCE_EXHAUSTED"
        waiting = patient.open("math@2")
        agents: list[str] = []
        thread = threading.Thread(target=lambda: agents.append(waiting.reset(seed=1).agent))
        thread.start()
        while waiting.state.resets < 2:
            time.sleep(0.01)
        taken.close()
        thread.join()
        assert agents == ["agent"]


def test_tls_and_tokens(guarded: Guarded) -> None:
    with Client(guarded.address, token=guarded.token, tls=guarded.tls) as client:
        assert "math@2" in [each.id for each in client.describe()]
    assert code_of(Client(guarded.address, tls=guarded.tls).describe) == "UNAUTHENTICATED"
    tokens = iter(["old", guarded.token, guarded.token])
    with Client(guarded.address, token=lambda: next(tokens), tls=guarded.tls) as renewing:
        assert len(renewing.describe()) == 1
    assert code_of(Client(guarded.address, tls=Tls()).describe) == "TLS_FAILED"


@pytest.mark.parametrize("block", readme_blocks("Client"))
def test_readme(block: str, address: str) -> None:
    exec(block.replace(PLAIN, address), {})
