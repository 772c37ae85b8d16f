from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LogprobKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOGPROB_KIND_UNSPECIFIED: _ClassVar[LogprobKind]
    LOGPROB_KIND_DRAWN: _ClassVar[LogprobKind]
    LOGPROB_KIND_FULL: _ClassVar[LogprobKind]

class InFlight(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IN_FLIGHT_UNSPECIFIED: _ClassVar[InFlight]
    IN_FLIGHT_RECOMPUTE: _ClassVar[InFlight]
    IN_FLIGHT_KEEP: _ClassVar[InFlight]
    IN_FLIGHT_WAIT: _ClassVar[InFlight]

class Proof(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROOF_UNSPECIFIED: _ClassVar[Proof]
    PROOF_CHECKSUM: _ClassVar[Proof]
    PROOF_PROBE: _ClassVar[Proof]

class StopReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STOP_REASON_UNSPECIFIED: _ClassVar[StopReason]
    STOP_REASON_STOP: _ClassVar[StopReason]
    STOP_REASON_LENGTH: _ClassVar[StopReason]
    STOP_REASON_CANCELLED: _ClassVar[StopReason]
    STOP_REASON_ERROR: _ClassVar[StopReason]
LOGPROB_KIND_UNSPECIFIED: LogprobKind
LOGPROB_KIND_DRAWN: LogprobKind
LOGPROB_KIND_FULL: LogprobKind
IN_FLIGHT_UNSPECIFIED: InFlight
IN_FLIGHT_RECOMPUTE: InFlight
IN_FLIGHT_KEEP: InFlight
IN_FLIGHT_WAIT: InFlight
PROOF_UNSPECIFIED: Proof
PROOF_CHECKSUM: Proof
PROOF_PROBE: Proof
STOP_REASON_UNSPECIFIED: StopReason
STOP_REASON_STOP: StopReason
STOP_REASON_LENGTH: StopReason
STOP_REASON_CANCELLED: StopReason
STOP_REASON_ERROR: StopReason

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("protocol_major", "protocol_minor", "instance_id", "device", "device_name", "software", "threads", "models", "capabilities", "running_tokens", "compute_seconds")
    class SoftwareEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MINOR_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_NAME_FIELD_NUMBER: _ClassVar[int]
    SOFTWARE_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    RUNNING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPUTE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    protocol_major: int
    protocol_minor: int
    instance_id: str
    device: str
    device_name: str
    software: _containers.ScalarMap[str, str]
    threads: int
    models: _containers.RepeatedCompositeFieldContainer[SampledModel]
    capabilities: SamplerCapabilities
    running_tokens: int
    compute_seconds: float
    def __init__(self, protocol_major: _Optional[int] = ..., protocol_minor: _Optional[int] = ..., instance_id: _Optional[str] = ..., device: _Optional[str] = ..., device_name: _Optional[str] = ..., software: _Optional[_Mapping[str, str]] = ..., threads: _Optional[int] = ..., models: _Optional[_Iterable[_Union[SampledModel, _Mapping]]] = ..., capabilities: _Optional[_Union[SamplerCapabilities, _Mapping]] = ..., running_tokens: _Optional[int] = ..., compute_seconds: _Optional[float] = ...) -> None: ...

class SampledModel(_message.Message):
    __slots__ = ("model_id", "version", "checksum")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    version: int
    checksum: str
    def __init__(self, model_id: _Optional[str] = ..., version: _Optional[int] = ..., checksum: _Optional[str] = ...) -> None: ...

class SamplerCapabilities(_message.Message):
    __slots__ = ("deterministic", "logprobs", "update_from_trainer", "update_from_directory", "in_flight", "proof", "sleeps")
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    LOGPROBS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_FROM_TRAINER_FIELD_NUMBER: _ClassVar[int]
    UPDATE_FROM_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    SLEEPS_FIELD_NUMBER: _ClassVar[int]
    deterministic: bool
    logprobs: LogprobKind
    update_from_trainer: bool
    update_from_directory: bool
    in_flight: _containers.RepeatedScalarFieldContainer[InFlight]
    proof: Proof
    sleeps: bool
    def __init__(self, deterministic: _Optional[bool] = ..., logprobs: _Optional[_Union[LogprobKind, str]] = ..., update_from_trainer: _Optional[bool] = ..., update_from_directory: _Optional[bool] = ..., in_flight: _Optional[_Iterable[_Union[InFlight, str]]] = ..., proof: _Optional[_Union[Proof, str]] = ..., sleeps: _Optional[bool] = ...) -> None: ...

class ReadTokenizerRequest(_message.Message):
    __slots__ = ("model_id",)
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    def __init__(self, model_id: _Optional[str] = ...) -> None: ...

class ReadTokenizerResponse(_message.Message):
    __slots__ = ("files",)
    class FilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    FILES_FIELD_NUMBER: _ClassVar[int]
    files: _containers.ScalarMap[str, bytes]
    def __init__(self, files: _Optional[_Mapping[str, bytes]] = ...) -> None: ...

class UpdateRequest(_message.Message):
    __slots__ = ("model_id", "version", "checksum", "trainer", "directory", "in_flight")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    TRAINER_FIELD_NUMBER: _ClassVar[int]
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    version: int
    checksum: str
    trainer: TrainerSource
    directory: str
    in_flight: InFlight
    def __init__(self, model_id: _Optional[str] = ..., version: _Optional[int] = ..., checksum: _Optional[str] = ..., trainer: _Optional[_Union[TrainerSource, _Mapping]] = ..., directory: _Optional[str] = ..., in_flight: _Optional[_Union[InFlight, str]] = ...) -> None: ...

class TrainerSource(_message.Message):
    __slots__ = ("address", "token")
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    address: str
    token: str
    def __init__(self, address: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class UpdateResponse(_message.Message):
    __slots__ = ("version", "checksum", "probe_difference", "seconds")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    PROBE_DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    version: int
    checksum: str
    probe_difference: float
    seconds: float
    def __init__(self, version: _Optional[int] = ..., checksum: _Optional[str] = ..., probe_difference: _Optional[float] = ..., seconds: _Optional[float] = ...) -> None: ...

class SleepRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SleepResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SampleRequest(_message.Message):
    __slots__ = ("open", "add", "cancel", "barrier")
    OPEN_FIELD_NUMBER: _ClassVar[int]
    ADD_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    BARRIER_FIELD_NUMBER: _ClassVar[int]
    open: SampleOpen
    add: _containers.RepeatedCompositeFieldContainer[SampleAdd]
    cancel: _containers.RepeatedScalarFieldContainer[int]
    barrier: bool
    def __init__(self, open: _Optional[_Union[SampleOpen, _Mapping]] = ..., add: _Optional[_Iterable[_Union[SampleAdd, _Mapping]]] = ..., cancel: _Optional[_Iterable[int]] = ..., barrier: _Optional[bool] = ...) -> None: ...

class SampleOpen(_message.Message):
    __slots__ = ("model_id",)
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    def __init__(self, model_id: _Optional[str] = ...) -> None: ...

class SampleAdd(_message.Message):
    __slots__ = ("id", "prompt", "params", "key", "stream_tokens")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    STREAM_TOKENS_FIELD_NUMBER: _ClassVar[int]
    id: int
    prompt: bytes
    params: SamplingParams
    key: int
    stream_tokens: bool
    def __init__(self, id: _Optional[int] = ..., prompt: _Optional[bytes] = ..., params: _Optional[_Union[SamplingParams, _Mapping]] = ..., key: _Optional[int] = ..., stream_tokens: _Optional[bool] = ...) -> None: ...

class SamplingParams(_message.Message):
    __slots__ = ("temperature", "top_p", "top_k", "max_tokens", "min_tokens", "stop_token_ids")
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MIN_TOKENS_FIELD_NUMBER: _ClassVar[int]
    STOP_TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    temperature: float
    top_p: float
    top_k: int
    max_tokens: int
    min_tokens: int
    stop_token_ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., top_k: _Optional[int] = ..., max_tokens: _Optional[int] = ..., min_tokens: _Optional[int] = ..., stop_token_ids: _Optional[_Iterable[int]] = ...) -> None: ...

class SampleResponse(_message.Message):
    __slots__ = ("tokens", "finish")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    FINISH_FIELD_NUMBER: _ClassVar[int]
    tokens: _containers.RepeatedCompositeFieldContainer[SampleTokens]
    finish: _containers.RepeatedCompositeFieldContainer[SampleFinish]
    def __init__(self, tokens: _Optional[_Iterable[_Union[SampleTokens, _Mapping]]] = ..., finish: _Optional[_Iterable[_Union[SampleFinish, _Mapping]]] = ...) -> None: ...

class SampleTokens(_message.Message):
    __slots__ = ("id", "token_ids", "logprobs", "version")
    ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    LOGPROBS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    id: int
    token_ids: bytes
    logprobs: bytes
    version: int
    def __init__(self, id: _Optional[int] = ..., token_ids: _Optional[bytes] = ..., logprobs: _Optional[bytes] = ..., version: _Optional[int] = ...) -> None: ...

class SampleFinish(_message.Message):
    __slots__ = ("id", "reason", "token_ids", "logprobs", "truncated_support", "versions", "error_code", "error_message")
    ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    LOGPROBS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_SUPPORT_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    id: int
    reason: StopReason
    token_ids: bytes
    logprobs: bytes
    truncated_support: bool
    versions: _containers.RepeatedCompositeFieldContainer[VersionRun]
    error_code: str
    error_message: str
    def __init__(self, id: _Optional[int] = ..., reason: _Optional[_Union[StopReason, str]] = ..., token_ids: _Optional[bytes] = ..., logprobs: _Optional[bytes] = ..., truncated_support: _Optional[bool] = ..., versions: _Optional[_Iterable[_Union[VersionRun, _Mapping]]] = ..., error_code: _Optional[str] = ..., error_message: _Optional[str] = ...) -> None: ...

class VersionRun(_message.Message):
    __slots__ = ("version", "count")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    version: int
    count: int
    def __init__(self, version: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...
