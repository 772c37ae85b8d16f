from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Determinism(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DETERMINISM_UNSPECIFIED: _ClassVar[Determinism]
    DETERMINISM_FULL: _ClassVar[Determinism]
    DETERMINISM_REPLAYABLE: _ClassVar[Determinism]
    DETERMINISM_NONE: _ClassVar[Determinism]

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINISH_REASON_UNSPECIFIED: _ClassVar[FinishReason]
    FINISH_REASON_STOP: _ClassVar[FinishReason]
    FINISH_REASON_LENGTH: _ClassVar[FinishReason]
    FINISH_REASON_EXHAUSTED: _ClassVar[FinishReason]
DETERMINISM_UNSPECIFIED: Determinism
DETERMINISM_FULL: Determinism
DETERMINISM_REPLAYABLE: Determinism
DETERMINISM_NONE: Determinism
FINISH_REASON_UNSPECIFIED: FinishReason
FINISH_REASON_STOP: FinishReason
FINISH_REASON_LENGTH: FinishReason
FINISH_REASON_EXHAUSTED: FinishReason

class Message(_message.Message):
    __slots__ = ("role", "name", "parts")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    role: str
    name: str
    parts: _containers.RepeatedCompositeFieldContainer[Part]
    def __init__(self, role: _Optional[str] = ..., name: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[Part, _Mapping]]] = ...) -> None: ...

class Part(_message.Message):
    __slots__ = ("text", "image", "tool_call", "tool_result", "thinking", "malformed_call")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    THINKING_FIELD_NUMBER: _ClassVar[int]
    MALFORMED_CALL_FIELD_NUMBER: _ClassVar[int]
    text: TextPart
    image: ImagePart
    tool_call: ToolCallPart
    tool_result: ToolResultPart
    thinking: TextPart
    malformed_call: MalformedCallPart
    def __init__(self, text: _Optional[_Union[TextPart, _Mapping]] = ..., image: _Optional[_Union[ImagePart, _Mapping]] = ..., tool_call: _Optional[_Union[ToolCallPart, _Mapping]] = ..., tool_result: _Optional[_Union[ToolResultPart, _Mapping]] = ..., thinking: _Optional[_Union[TextPart, _Mapping]] = ..., malformed_call: _Optional[_Union[MalformedCallPart, _Mapping]] = ...) -> None: ...

class TextPart(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class ImagePart(_message.Message):
    __slots__ = ("media_type", "data", "url")
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    media_type: str
    data: bytes
    url: str
    def __init__(self, media_type: _Optional[str] = ..., data: _Optional[bytes] = ..., url: _Optional[str] = ...) -> None: ...

class ToolCallPart(_message.Message):
    __slots__ = ("id", "name", "arguments_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    arguments_json: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., arguments_json: _Optional[str] = ...) -> None: ...

class MalformedCallPart(_message.Message):
    __slots__ = ("text", "format", "error", "offset")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    text: str
    format: str
    error: str
    offset: int
    def __init__(self, text: _Optional[str] = ..., format: _Optional[str] = ..., error: _Optional[str] = ..., offset: _Optional[int] = ...) -> None: ...

class ToolResultPart(_message.Message):
    __slots__ = ("id", "name", "parts", "is_error")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    parts: _containers.RepeatedCompositeFieldContainer[Part]
    is_error: bool
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[Part, _Mapping]]] = ..., is_error: _Optional[bool] = ...) -> None: ...

class ToolDefinition(_message.Message):
    __slots__ = ("name", "description", "parameters_json")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_JSON_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    parameters_json: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., parameters_json: _Optional[str] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ("environment",)
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    environment: EnvironmentRef
    def __init__(self, environment: _Optional[_Union[EnvironmentRef, _Mapping]] = ...) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("protocol_major", "protocol_minor", "environments", "instance_id", "server_version", "limits", "use", "is_draining")
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MINOR_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENTS_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    SERVER_VERSION_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    USE_FIELD_NUMBER: _ClassVar[int]
    IS_DRAINING_FIELD_NUMBER: _ClassVar[int]
    protocol_major: int
    protocol_minor: int
    environments: _containers.RepeatedCompositeFieldContainer[EnvironmentDescription]
    instance_id: str
    server_version: str
    limits: ServerLimits
    use: ServerUse
    is_draining: bool
    def __init__(self, protocol_major: _Optional[int] = ..., protocol_minor: _Optional[int] = ..., environments: _Optional[_Iterable[_Union[EnvironmentDescription, _Mapping]]] = ..., instance_id: _Optional[str] = ..., server_version: _Optional[str] = ..., limits: _Optional[_Union[ServerLimits, _Mapping]] = ..., use: _Optional[_Union[ServerUse, _Mapping]] = ..., is_draining: _Optional[bool] = ...) -> None: ...

class ServerLimits(_message.Message):
    __slots__ = ("sessions", "sessions_per_client", "queue", "queue_ms", "lease_ms")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_PER_CLIENT_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    QUEUE_MS_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    sessions: int
    sessions_per_client: int
    queue: int
    queue_ms: int
    lease_ms: int
    def __init__(self, sessions: _Optional[int] = ..., sessions_per_client: _Optional[int] = ..., queue: _Optional[int] = ..., queue_ms: _Optional[int] = ..., lease_ms: _Optional[int] = ...) -> None: ...

class ServerUse(_message.Message):
    __slots__ = ("sessions", "queued")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    sessions: int
    queued: int
    def __init__(self, sessions: _Optional[int] = ..., queued: _Optional[int] = ...) -> None: ...

class EnvironmentDescription(_message.Message):
    __slots__ = ("id", "description", "determinism", "agents", "options_schema_json", "splits", "max_turns", "has_demonstrations", "reward_components", "ordered_splits", "data_files", "roles", "provided_by", "max_sessions", "use", "reward_range")
    class SplitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class DataFilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DETERMINISM_FIELD_NUMBER: _ClassVar[int]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    SPLITS_FIELD_NUMBER: _ClassVar[int]
    MAX_TURNS_FIELD_NUMBER: _ClassVar[int]
    HAS_DEMONSTRATIONS_FIELD_NUMBER: _ClassVar[int]
    REWARD_COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    ORDERED_SPLITS_FIELD_NUMBER: _ClassVar[int]
    DATA_FILES_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    PROVIDED_BY_FIELD_NUMBER: _ClassVar[int]
    MAX_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    USE_FIELD_NUMBER: _ClassVar[int]
    REWARD_RANGE_FIELD_NUMBER: _ClassVar[int]
    id: str
    description: str
    determinism: Determinism
    agents: _containers.RepeatedScalarFieldContainer[str]
    options_schema_json: str
    splits: _containers.ScalarMap[str, int]
    max_turns: int
    has_demonstrations: bool
    reward_components: _containers.RepeatedScalarFieldContainer[str]
    ordered_splits: _containers.RepeatedScalarFieldContainer[str]
    data_files: _containers.ScalarMap[str, str]
    roles: _containers.RepeatedCompositeFieldContainer[Role]
    provided_by: EnvironmentPackage
    max_sessions: int
    use: ServerUse
    reward_range: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, id: _Optional[str] = ..., description: _Optional[str] = ..., determinism: _Optional[_Union[Determinism, str]] = ..., agents: _Optional[_Iterable[str]] = ..., options_schema_json: _Optional[str] = ..., splits: _Optional[_Mapping[str, int]] = ..., max_turns: _Optional[int] = ..., has_demonstrations: _Optional[bool] = ..., reward_components: _Optional[_Iterable[str]] = ..., ordered_splits: _Optional[_Iterable[str]] = ..., data_files: _Optional[_Mapping[str, str]] = ..., roles: _Optional[_Iterable[_Union[Role, _Mapping]]] = ..., provided_by: _Optional[_Union[EnvironmentPackage, _Mapping]] = ..., max_sessions: _Optional[int] = ..., use: _Optional[_Union[ServerUse, _Mapping]] = ..., reward_range: _Optional[_Iterable[float]] = ...) -> None: ...

class EnvironmentPackage(_message.Message):
    __slots__ = ("name", "version", "behaviour")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOUR_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    behaviour: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., behaviour: _Optional[str] = ...) -> None: ...

class Role(_message.Message):
    __slots__ = ("id", "description", "many")
    ID_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    MANY_FIELD_NUMBER: _ClassVar[int]
    id: str
    description: str
    many: bool
    def __init__(self, id: _Optional[str] = ..., description: _Optional[str] = ..., many: _Optional[bool] = ...) -> None: ...

class EnvironmentRef(_message.Message):
    __slots__ = ("id", "options_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    options_json: str
    def __init__(self, id: _Optional[str] = ..., options_json: _Optional[str] = ...) -> None: ...

class ResetRequest(_message.Message):
    __slots__ = ("session_id", "epoch", "environment", "seed", "task", "lease_ms", "deadline_ms", "episode")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    session_id: bytes
    epoch: int
    environment: EnvironmentRef
    seed: int
    task: str
    lease_ms: int
    deadline_ms: int
    episode: bytes
    def __init__(self, session_id: _Optional[bytes] = ..., epoch: _Optional[int] = ..., environment: _Optional[_Union[EnvironmentRef, _Mapping]] = ..., seed: _Optional[int] = ..., task: _Optional[str] = ..., lease_ms: _Optional[int] = ..., deadline_ms: _Optional[int] = ..., episode: _Optional[bytes] = ...) -> None: ...

class ResetResponse(_message.Message):
    __slots__ = ("observation", "lease_ms", "max_turns")
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_TURNS_FIELD_NUMBER: _ClassVar[int]
    observation: Observation
    lease_ms: int
    max_turns: int
    def __init__(self, observation: _Optional[_Union[Observation, _Mapping]] = ..., lease_ms: _Optional[int] = ..., max_turns: _Optional[int] = ...) -> None: ...

class Observation(_message.Message):
    __slots__ = ("agent", "messages", "tools", "info_json", "is_fresh", "max_tokens")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    INFO_JSON_FIELD_NUMBER: _ClassVar[int]
    IS_FRESH_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    agent: str
    messages: _containers.RepeatedCompositeFieldContainer[Message]
    tools: ToolSet
    info_json: str
    is_fresh: bool
    max_tokens: int
    def __init__(self, agent: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[Message, _Mapping]]] = ..., tools: _Optional[_Union[ToolSet, _Mapping]] = ..., info_json: _Optional[str] = ..., is_fresh: _Optional[bool] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class ToolSet(_message.Message):
    __slots__ = ("tools",)
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[ToolDefinition]
    def __init__(self, tools: _Optional[_Iterable[_Union[ToolDefinition, _Mapping]]] = ...) -> None: ...

class Action(_message.Message):
    __slots__ = ("agent", "message", "finish_reason")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    agent: str
    message: Message
    finish_reason: FinishReason
    def __init__(self, agent: _Optional[str] = ..., message: _Optional[_Union[Message, _Mapping]] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ...) -> None: ...

class StepRequest(_message.Message):
    __slots__ = ("session_id", "epoch", "index", "action", "deadline_ms")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    session_id: bytes
    epoch: int
    index: int
    action: Action
    deadline_ms: int
    def __init__(self, session_id: _Optional[bytes] = ..., epoch: _Optional[int] = ..., index: _Optional[int] = ..., action: _Optional[_Union[Action, _Mapping]] = ..., deadline_ms: _Optional[int] = ...) -> None: ...

class Reward(_message.Message):
    __slots__ = ("score", "unscored")
    SCORE_FIELD_NUMBER: _ClassVar[int]
    UNSCORED_FIELD_NUMBER: _ClassVar[int]
    score: Score
    unscored: Unscored
    def __init__(self, score: _Optional[_Union[Score, _Mapping]] = ..., unscored: _Optional[_Union[Unscored, _Mapping]] = ...) -> None: ...

class Score(_message.Message):
    __slots__ = ("value", "components")
    class ComponentsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    VALUE_FIELD_NUMBER: _ClassVar[int]
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    value: float
    components: _containers.ScalarMap[str, float]
    def __init__(self, value: _Optional[float] = ..., components: _Optional[_Mapping[str, float]] = ...) -> None: ...

class Unscored(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class StepResponse(_message.Message):
    __slots__ = ("observation", "rewards", "terminated", "truncated", "info_json")
    class RewardsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Reward
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Reward, _Mapping]] = ...) -> None: ...
    class TerminatedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bool] = ...) -> None: ...
    class TruncatedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bool] = ...) -> None: ...
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    REWARDS_FIELD_NUMBER: _ClassVar[int]
    TERMINATED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    INFO_JSON_FIELD_NUMBER: _ClassVar[int]
    observation: Observation
    rewards: _containers.MessageMap[str, Reward]
    terminated: _containers.ScalarMap[str, bool]
    truncated: _containers.ScalarMap[str, bool]
    info_json: str
    def __init__(self, observation: _Optional[_Union[Observation, _Mapping]] = ..., rewards: _Optional[_Mapping[str, Reward]] = ..., terminated: _Optional[_Mapping[str, bool]] = ..., truncated: _Optional[_Mapping[str, bool]] = ..., info_json: _Optional[str] = ...) -> None: ...

class CloseRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: bytes
    def __init__(self, session_id: _Optional[bytes] = ...) -> None: ...

class CloseResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RenewRequest(_message.Message):
    __slots__ = ("session_ids",)
    SESSION_IDS_FIELD_NUMBER: _ClassVar[int]
    session_ids: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, session_ids: _Optional[_Iterable[bytes]] = ...) -> None: ...

class RenewResponse(_message.Message):
    __slots__ = ("gone",)
    GONE_FIELD_NUMBER: _ClassVar[int]
    gone: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, gone: _Optional[_Iterable[bytes]] = ...) -> None: ...

class DemonstrateRequest(_message.Message):
    __slots__ = ("environment", "tasks")
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    environment: EnvironmentRef
    tasks: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, environment: _Optional[_Union[EnvironmentRef, _Mapping]] = ..., tasks: _Optional[_Iterable[str]] = ...) -> None: ...

class DemonstrateResponse(_message.Message):
    __slots__ = ("demonstrations",)
    DEMONSTRATIONS_FIELD_NUMBER: _ClassVar[int]
    demonstrations: _containers.RepeatedCompositeFieldContainer[Demonstration]
    def __init__(self, demonstrations: _Optional[_Iterable[_Union[Demonstration, _Mapping]]] = ...) -> None: ...

class Demonstration(_message.Message):
    __slots__ = ("task", "agent", "messages", "tools")
    TASK_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    task: str
    agent: str
    messages: _containers.RepeatedCompositeFieldContainer[Message]
    tools: _containers.RepeatedCompositeFieldContainer[ToolDefinition]
    def __init__(self, task: _Optional[str] = ..., agent: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[Message, _Mapping]]] = ..., tools: _Optional[_Iterable[_Union[ToolDefinition, _Mapping]]] = ...) -> None: ...

class MultiplexRequest(_message.Message):
    __slots__ = ("requests",)
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    requests: _containers.RepeatedCompositeFieldContainer[SessionRequest]
    def __init__(self, requests: _Optional[_Iterable[_Union[SessionRequest, _Mapping]]] = ...) -> None: ...

class SessionRequest(_message.Message):
    __slots__ = ("request_id", "reset", "step", "close", "renew", "cancel", "chunk", "traceparent")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    RENEW_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    request_id: int
    reset: ResetRequest
    step: StepRequest
    close: CloseRequest
    renew: RenewRequest
    cancel: bool
    chunk: Chunk
    traceparent: str
    def __init__(self, request_id: _Optional[int] = ..., reset: _Optional[_Union[ResetRequest, _Mapping]] = ..., step: _Optional[_Union[StepRequest, _Mapping]] = ..., close: _Optional[_Union[CloseRequest, _Mapping]] = ..., renew: _Optional[_Union[RenewRequest, _Mapping]] = ..., cancel: _Optional[bool] = ..., chunk: _Optional[_Union[Chunk, _Mapping]] = ..., traceparent: _Optional[str] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ("data", "last")
    DATA_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    last: bool
    def __init__(self, data: _Optional[bytes] = ..., last: _Optional[bool] = ...) -> None: ...

class MultiplexResponse(_message.Message):
    __slots__ = ("responses",)
    RESPONSES_FIELD_NUMBER: _ClassVar[int]
    responses: _containers.RepeatedCompositeFieldContainer[SessionResponse]
    def __init__(self, responses: _Optional[_Iterable[_Union[SessionResponse, _Mapping]]] = ...) -> None: ...

class SessionResponse(_message.Message):
    __slots__ = ("request_id", "reset", "step", "close", "renew", "error", "chunk")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    RENEW_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    request_id: int
    reset: ResetResponse
    step: StepResponse
    close: CloseResponse
    renew: RenewResponse
    error: SessionError
    chunk: Chunk
    def __init__(self, request_id: _Optional[int] = ..., reset: _Optional[_Union[ResetResponse, _Mapping]] = ..., step: _Optional[_Union[StepResponse, _Mapping]] = ..., close: _Optional[_Union[CloseResponse, _Mapping]] = ..., renew: _Optional[_Union[RenewResponse, _Mapping]] = ..., error: _Optional[_Union[SessionError, _Mapping]] = ..., chunk: _Optional[_Union[Chunk, _Mapping]] = ...) -> None: ...

class SessionError(_message.Message):
    __slots__ = ("code", "message", "hint", "retryable", "retry_delay_ms")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    hint: str
    retryable: bool
    retry_delay_ms: int
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., hint: _Optional[str] = ..., retryable: _Optional[bool] = ..., retry_delay_ms: _Optional[int] = ...) -> None: ...
