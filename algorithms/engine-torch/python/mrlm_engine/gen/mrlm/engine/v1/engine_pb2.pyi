from mrlm.sampler.v1 import sampler_pb2 as _sampler_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSPECIFIED: _ClassVar[Role]
    ROLE_POLICY: _ClassVar[Role]
    ROLE_CRITIC: _ClassVar[Role]
    ROLE_REFERENCE: _ClassVar[Role]
    ROLE_REWARD: _ClassVar[Role]

class LossKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOSS_KIND_UNSPECIFIED: _ClassVar[LossKind]
    LOSS_KIND_CLIENT: _ClassVar[LossKind]
    LOSS_KIND_LINEAR: _ClassVar[LossKind]
ROLE_UNSPECIFIED: Role
ROLE_POLICY: Role
ROLE_CRITIC: Role
ROLE_REFERENCE: Role
ROLE_REWARD: Role
LOSS_KIND_UNSPECIFIED: LossKind
LOSS_KIND_CLIENT: LossKind
LOSS_KIND_LINEAR: LossKind

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("protocol_major", "protocol_minor", "device", "device_name", "torch_version", "transformers_version", "python_version", "deterministic", "models", "instance_id", "memory_allocated_bytes", "memory_peak_bytes", "threads", "world_size", "last_call", "compute_seconds")
    PROTOCOL_MAJOR_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MINOR_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_NAME_FIELD_NUMBER: _ClassVar[int]
    TORCH_VERSION_FIELD_NUMBER: _ClassVar[int]
    TRANSFORMERS_VERSION_FIELD_NUMBER: _ClassVar[int]
    PYTHON_VERSION_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ALLOCATED_BYTES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_PEAK_BYTES_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    WORLD_SIZE_FIELD_NUMBER: _ClassVar[int]
    LAST_CALL_FIELD_NUMBER: _ClassVar[int]
    COMPUTE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    protocol_major: int
    protocol_minor: int
    device: str
    device_name: str
    torch_version: str
    transformers_version: str
    python_version: str
    deterministic: bool
    models: _containers.RepeatedCompositeFieldContainer[ModelInfo]
    instance_id: str
    memory_allocated_bytes: int
    memory_peak_bytes: int
    threads: int
    world_size: int
    last_call: int
    compute_seconds: float
    def __init__(self, protocol_major: _Optional[int] = ..., protocol_minor: _Optional[int] = ..., device: _Optional[str] = ..., device_name: _Optional[str] = ..., torch_version: _Optional[str] = ..., transformers_version: _Optional[str] = ..., python_version: _Optional[str] = ..., deterministic: _Optional[bool] = ..., models: _Optional[_Iterable[_Union[ModelInfo, _Mapping]]] = ..., instance_id: _Optional[str] = ..., memory_allocated_bytes: _Optional[int] = ..., memory_peak_bytes: _Optional[int] = ..., threads: _Optional[int] = ..., world_size: _Optional[int] = ..., last_call: _Optional[int] = ..., compute_seconds: _Optional[float] = ...) -> None: ...

class EstimateMemoryRequest(_message.Message):
    __slots__ = ("models", "sampled_models", "concurrency", "sequence_tokens", "unit_sequences", "assumed_devices")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    SAMPLED_MODELS_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    UNIT_SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    ASSUMED_DEVICES_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[CreateModelRequest]
    sampled_models: _containers.RepeatedScalarFieldContainer[str]
    concurrency: int
    sequence_tokens: int
    unit_sequences: int
    assumed_devices: AssumedDevices
    def __init__(self, models: _Optional[_Iterable[_Union[CreateModelRequest, _Mapping]]] = ..., sampled_models: _Optional[_Iterable[str]] = ..., concurrency: _Optional[int] = ..., sequence_tokens: _Optional[int] = ..., unit_sequences: _Optional[int] = ..., assumed_devices: _Optional[_Union[AssumedDevices, _Mapping]] = ...) -> None: ...

class AssumedDevices(_message.Message):
    __slots__ = ("name", "bytes", "ranks", "shards_weights", "context", "tensor")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    SHARDS_WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    name: str
    bytes: int
    ranks: int
    shards_weights: bool
    context: int
    tensor: int
    def __init__(self, name: _Optional[str] = ..., bytes: _Optional[int] = ..., ranks: _Optional[int] = ..., shards_weights: _Optional[bool] = ..., context: _Optional[int] = ..., tensor: _Optional[int] = ...) -> None: ...

class EstimateMemoryResponse(_message.Message):
    __slots__ = ("lines", "total_bytes", "available_bytes", "available_from", "micro_batch_tokens", "wanted_tokens", "wanted_bytes", "least_tokens", "least_bytes", "fitting_sequence_tokens")
    LINES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_BYTES_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_FROM_FIELD_NUMBER: _ClassVar[int]
    MICRO_BATCH_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WANTED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WANTED_BYTES_FIELD_NUMBER: _ClassVar[int]
    LEAST_TOKENS_FIELD_NUMBER: _ClassVar[int]
    LEAST_BYTES_FIELD_NUMBER: _ClassVar[int]
    FITTING_SEQUENCE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    lines: _containers.RepeatedCompositeFieldContainer[MemoryLine]
    total_bytes: int
    available_bytes: int
    available_from: str
    micro_batch_tokens: int
    wanted_tokens: int
    wanted_bytes: int
    least_tokens: int
    least_bytes: int
    fitting_sequence_tokens: int
    def __init__(self, lines: _Optional[_Iterable[_Union[MemoryLine, _Mapping]]] = ..., total_bytes: _Optional[int] = ..., available_bytes: _Optional[int] = ..., available_from: _Optional[str] = ..., micro_batch_tokens: _Optional[int] = ..., wanted_tokens: _Optional[int] = ..., wanted_bytes: _Optional[int] = ..., least_tokens: _Optional[int] = ..., least_bytes: _Optional[int] = ..., fitting_sequence_tokens: _Optional[int] = ...) -> None: ...

class MemoryLine(_message.Message):
    __slots__ = ("model_id", "part", "bytes", "formula")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    FORMULA_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    part: str
    bytes: int
    formula: str
    def __init__(self, model_id: _Optional[str] = ..., part: _Optional[str] = ..., bytes: _Optional[int] = ..., formula: _Optional[str] = ...) -> None: ...

class CreateModelRequest(_message.Message):
    __slots__ = ("call", "model_id", "role", "directory", "random", "copy_of", "adapter_off", "lora", "dtype", "float32_head", "value_head", "trainable", "gradient_checkpointing", "micro_batch_tokens")
    CALL_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    RANDOM_FIELD_NUMBER: _ClassVar[int]
    COPY_OF_FIELD_NUMBER: _ClassVar[int]
    ADAPTER_OFF_FIELD_NUMBER: _ClassVar[int]
    LORA_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    FLOAT32_HEAD_FIELD_NUMBER: _ClassVar[int]
    VALUE_HEAD_FIELD_NUMBER: _ClassVar[int]
    TRAINABLE_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_CHECKPOINTING_FIELD_NUMBER: _ClassVar[int]
    MICRO_BATCH_TOKENS_FIELD_NUMBER: _ClassVar[int]
    call: int
    model_id: str
    role: Role
    directory: str
    random: RandomSource
    copy_of: str
    adapter_off: str
    lora: Lora
    dtype: str
    float32_head: bool
    value_head: bool
    trainable: bool
    gradient_checkpointing: bool
    micro_batch_tokens: int
    def __init__(self, call: _Optional[int] = ..., model_id: _Optional[str] = ..., role: _Optional[_Union[Role, str]] = ..., directory: _Optional[str] = ..., random: _Optional[_Union[RandomSource, _Mapping]] = ..., copy_of: _Optional[str] = ..., adapter_off: _Optional[str] = ..., lora: _Optional[_Union[Lora, _Mapping]] = ..., dtype: _Optional[str] = ..., float32_head: _Optional[bool] = ..., value_head: _Optional[bool] = ..., trainable: _Optional[bool] = ..., gradient_checkpointing: _Optional[bool] = ..., micro_batch_tokens: _Optional[int] = ...) -> None: ...

class RandomSource(_message.Message):
    __slots__ = ("config_json", "seed", "tokenizer_files")
    class TokenizerFilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FILES_FIELD_NUMBER: _ClassVar[int]
    config_json: str
    seed: int
    tokenizer_files: _containers.ScalarMap[str, bytes]
    def __init__(self, config_json: _Optional[str] = ..., seed: _Optional[int] = ..., tokenizer_files: _Optional[_Mapping[str, bytes]] = ...) -> None: ...

class Lora(_message.Message):
    __slots__ = ("rank", "alpha", "dropout", "target_modules", "seed", "path")
    RANK_FIELD_NUMBER: _ClassVar[int]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    DROPOUT_FIELD_NUMBER: _ClassVar[int]
    TARGET_MODULES_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    rank: int
    alpha: float
    dropout: float
    target_modules: _containers.RepeatedScalarFieldContainer[str]
    seed: int
    path: str
    def __init__(self, rank: _Optional[int] = ..., alpha: _Optional[float] = ..., dropout: _Optional[float] = ..., target_modules: _Optional[_Iterable[str]] = ..., seed: _Optional[int] = ..., path: _Optional[str] = ...) -> None: ...

class CreateModelResponse(_message.Message):
    __slots__ = ("model", "tokenizer_files")
    class TokenizerFilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FILES_FIELD_NUMBER: _ClassVar[int]
    model: ModelInfo
    tokenizer_files: _containers.ScalarMap[str, bytes]
    def __init__(self, model: _Optional[_Union[ModelInfo, _Mapping]] = ..., tokenizer_files: _Optional[_Mapping[str, bytes]] = ...) -> None: ...

class ModelInfo(_message.Message):
    __slots__ = ("model_id", "role", "architecture", "parameters", "trainable_parameters", "vocab_size", "max_positions", "eos_token_ids", "pad_token_id", "dtype", "step", "version", "has_value_head", "config_json")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    ARCHITECTURE_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    TRAINABLE_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    VOCAB_SIZE_FIELD_NUMBER: _ClassVar[int]
    MAX_POSITIONS_FIELD_NUMBER: _ClassVar[int]
    EOS_TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    PAD_TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    HAS_VALUE_HEAD_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    role: Role
    architecture: str
    parameters: int
    trainable_parameters: int
    vocab_size: int
    max_positions: int
    eos_token_ids: _containers.RepeatedScalarFieldContainer[int]
    pad_token_id: int
    dtype: str
    step: int
    version: int
    has_value_head: bool
    config_json: str
    def __init__(self, model_id: _Optional[str] = ..., role: _Optional[_Union[Role, str]] = ..., architecture: _Optional[str] = ..., parameters: _Optional[int] = ..., trainable_parameters: _Optional[int] = ..., vocab_size: _Optional[int] = ..., max_positions: _Optional[int] = ..., eos_token_ids: _Optional[_Iterable[int]] = ..., pad_token_id: _Optional[int] = ..., dtype: _Optional[str] = ..., step: _Optional[int] = ..., version: _Optional[int] = ..., has_value_head: _Optional[bool] = ..., config_json: _Optional[str] = ...) -> None: ...

class ReleaseModelRequest(_message.Message):
    __slots__ = ("call", "model_id")
    CALL_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    call: int
    model_id: str
    def __init__(self, call: _Optional[int] = ..., model_id: _Optional[str] = ...) -> None: ...

class ReleaseModelResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Unit(_message.Message):
    __slots__ = ("sequences",)
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    sequences: _containers.RepeatedCompositeFieldContainer[Sequence]
    def __init__(self, sequences: _Optional[_Iterable[_Union[Sequence, _Mapping]]] = ...) -> None: ...

class Sequence(_message.Message):
    __slots__ = ("tokens", "mask", "grad_logprob", "grad_entropy", "grad_value", "targets")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    MASK_FIELD_NUMBER: _ClassVar[int]
    GRAD_LOGPROB_FIELD_NUMBER: _ClassVar[int]
    GRAD_ENTROPY_FIELD_NUMBER: _ClassVar[int]
    GRAD_VALUE_FIELD_NUMBER: _ClassVar[int]
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    tokens: bytes
    mask: bytes
    grad_logprob: bytes
    grad_entropy: bytes
    grad_value: bytes
    targets: bytes
    def __init__(self, tokens: _Optional[bytes] = ..., mask: _Optional[bytes] = ..., grad_logprob: _Optional[bytes] = ..., grad_entropy: _Optional[bytes] = ..., grad_value: _Optional[bytes] = ..., targets: _Optional[bytes] = ...) -> None: ...

class OutputSelection(_message.Message):
    __slots__ = ("logprob", "entropy", "value", "final_value", "top")
    LOGPROB_FIELD_NUMBER: _ClassVar[int]
    ENTROPY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    FINAL_VALUE_FIELD_NUMBER: _ClassVar[int]
    TOP_FIELD_NUMBER: _ClassVar[int]
    logprob: bool
    entropy: bool
    value: bool
    final_value: bool
    top: int
    def __init__(self, logprob: _Optional[bool] = ..., entropy: _Optional[bool] = ..., value: _Optional[bool] = ..., final_value: _Optional[bool] = ..., top: _Optional[int] = ...) -> None: ...

class UnitOutputs(_message.Message):
    __slots__ = ("logprob", "entropy", "value", "final_value", "top_tokens", "top_logprob")
    LOGPROB_FIELD_NUMBER: _ClassVar[int]
    ENTROPY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    FINAL_VALUE_FIELD_NUMBER: _ClassVar[int]
    TOP_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOP_LOGPROB_FIELD_NUMBER: _ClassVar[int]
    logprob: bytes
    entropy: bytes
    value: bytes
    final_value: bytes
    top_tokens: bytes
    top_logprob: bytes
    def __init__(self, logprob: _Optional[bytes] = ..., entropy: _Optional[bytes] = ..., value: _Optional[bytes] = ..., final_value: _Optional[bytes] = ..., top_tokens: _Optional[bytes] = ..., top_logprob: _Optional[bytes] = ...) -> None: ...

class ForwardRequest(_message.Message):
    __slots__ = ("open", "units", "end")
    OPEN_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    open: ForwardOpen
    units: _containers.RepeatedCompositeFieldContainer[Unit]
    end: bool
    def __init__(self, open: _Optional[_Union[ForwardOpen, _Mapping]] = ..., units: _Optional[_Iterable[_Union[Unit, _Mapping]]] = ..., end: _Optional[bool] = ...) -> None: ...

class ForwardOpen(_message.Message):
    __slots__ = ("model_id", "outputs", "temperature")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    outputs: OutputSelection
    temperature: float
    def __init__(self, model_id: _Optional[str] = ..., outputs: _Optional[_Union[OutputSelection, _Mapping]] = ..., temperature: _Optional[float] = ...) -> None: ...

class ForwardResponse(_message.Message):
    __slots__ = ("first_unit", "units")
    FIRST_UNIT_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    first_unit: int
    units: _containers.RepeatedCompositeFieldContainer[UnitOutputs]
    def __init__(self, first_unit: _Optional[int] = ..., units: _Optional[_Iterable[_Union[UnitOutputs, _Mapping]]] = ...) -> None: ...

class ForwardBackwardRequest(_message.Message):
    __slots__ = ("open", "units", "end", "gradients")
    OPEN_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    GRADIENTS_FIELD_NUMBER: _ClassVar[int]
    open: ForwardBackwardOpen
    units: _containers.RepeatedCompositeFieldContainer[Unit]
    end: bool
    gradients: _containers.RepeatedCompositeFieldContainer[MicroBatchGradients]
    def __init__(self, open: _Optional[_Union[ForwardBackwardOpen, _Mapping]] = ..., units: _Optional[_Iterable[_Union[Unit, _Mapping]]] = ..., end: _Optional[bool] = ..., gradients: _Optional[_Iterable[_Union[MicroBatchGradients, _Mapping]]] = ...) -> None: ...

class ForwardBackwardOpen(_message.Message):
    __slots__ = ("call", "model_id", "outputs", "temperature", "loss", "normalizer", "return_outputs")
    CALL_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    NORMALIZER_FIELD_NUMBER: _ClassVar[int]
    RETURN_OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    call: int
    model_id: str
    outputs: OutputSelection
    temperature: float
    loss: LossKind
    normalizer: float
    return_outputs: bool
    def __init__(self, call: _Optional[int] = ..., model_id: _Optional[str] = ..., outputs: _Optional[_Union[OutputSelection, _Mapping]] = ..., temperature: _Optional[float] = ..., loss: _Optional[_Union[LossKind, str]] = ..., normalizer: _Optional[float] = ..., return_outputs: _Optional[bool] = ...) -> None: ...

class MicroBatchGradients(_message.Message):
    __slots__ = ("micro_batch", "units")
    MICRO_BATCH_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    micro_batch: int
    units: _containers.RepeatedCompositeFieldContainer[UnitGradients]
    def __init__(self, micro_batch: _Optional[int] = ..., units: _Optional[_Iterable[_Union[UnitGradients, _Mapping]]] = ...) -> None: ...

class UnitGradients(_message.Message):
    __slots__ = ("logprob", "entropy", "value")
    LOGPROB_FIELD_NUMBER: _ClassVar[int]
    ENTROPY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    logprob: bytes
    entropy: bytes
    value: bytes
    def __init__(self, logprob: _Optional[bytes] = ..., entropy: _Optional[bytes] = ..., value: _Optional[bytes] = ...) -> None: ...

class ForwardBackwardResponse(_message.Message):
    __slots__ = ("micro_batch", "graph_lost", "done")
    MICRO_BATCH_FIELD_NUMBER: _ClassVar[int]
    GRAPH_LOST_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    micro_batch: MicroBatchOutputs
    graph_lost: GraphLost
    done: ForwardBackwardDone
    def __init__(self, micro_batch: _Optional[_Union[MicroBatchOutputs, _Mapping]] = ..., graph_lost: _Optional[_Union[GraphLost, _Mapping]] = ..., done: _Optional[_Union[ForwardBackwardDone, _Mapping]] = ...) -> None: ...

class MicroBatchOutputs(_message.Message):
    __slots__ = ("micro_batch", "unit_indices", "units", "applied")
    MICRO_BATCH_FIELD_NUMBER: _ClassVar[int]
    UNIT_INDICES_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    micro_batch: int
    unit_indices: _containers.RepeatedScalarFieldContainer[int]
    units: _containers.RepeatedCompositeFieldContainer[UnitOutputs]
    applied: bool
    def __init__(self, micro_batch: _Optional[int] = ..., unit_indices: _Optional[_Iterable[int]] = ..., units: _Optional[_Iterable[_Union[UnitOutputs, _Mapping]]] = ..., applied: _Optional[bool] = ...) -> None: ...

class GraphLost(_message.Message):
    __slots__ = ("micro_batch", "reason")
    MICRO_BATCH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    micro_batch: int
    reason: str
    def __init__(self, micro_batch: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class ForwardBackwardDone(_message.Message):
    __slots__ = ("micro_batches", "tokens", "computed_tokens", "forward_seconds", "backward_seconds", "memory_retries", "micro_batch_tokens")
    MICRO_BATCHES_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPUTED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    FORWARD_SECONDS_FIELD_NUMBER: _ClassVar[int]
    BACKWARD_SECONDS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_RETRIES_FIELD_NUMBER: _ClassVar[int]
    MICRO_BATCH_TOKENS_FIELD_NUMBER: _ClassVar[int]
    micro_batches: int
    tokens: int
    computed_tokens: int
    forward_seconds: float
    backward_seconds: float
    memory_retries: int
    micro_batch_tokens: int
    def __init__(self, micro_batches: _Optional[int] = ..., tokens: _Optional[int] = ..., computed_tokens: _Optional[int] = ..., forward_seconds: _Optional[float] = ..., backward_seconds: _Optional[float] = ..., memory_retries: _Optional[int] = ..., micro_batch_tokens: _Optional[int] = ...) -> None: ...

class OptimStepRequest(_message.Message):
    __slots__ = ("call", "model_id", "adamw", "max_grad_norm")
    CALL_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    ADAMW_FIELD_NUMBER: _ClassVar[int]
    MAX_GRAD_NORM_FIELD_NUMBER: _ClassVar[int]
    call: int
    model_id: str
    adamw: AdamW
    max_grad_norm: float
    def __init__(self, call: _Optional[int] = ..., model_id: _Optional[str] = ..., adamw: _Optional[_Union[AdamW, _Mapping]] = ..., max_grad_norm: _Optional[float] = ...) -> None: ...

class AdamW(_message.Message):
    __slots__ = ("learning_rate", "beta1", "beta2", "epsilon", "weight_decay")
    LEARNING_RATE_FIELD_NUMBER: _ClassVar[int]
    BETA1_FIELD_NUMBER: _ClassVar[int]
    BETA2_FIELD_NUMBER: _ClassVar[int]
    EPSILON_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_DECAY_FIELD_NUMBER: _ClassVar[int]
    learning_rate: float
    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float
    def __init__(self, learning_rate: _Optional[float] = ..., beta1: _Optional[float] = ..., beta2: _Optional[float] = ..., epsilon: _Optional[float] = ..., weight_decay: _Optional[float] = ...) -> None: ...

class OptimStepResponse(_message.Message):
    __slots__ = ("applied", "grad_norm", "step", "skipped_reason", "seconds")
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    GRAD_NORM_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_REASON_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    applied: bool
    grad_norm: float
    step: int
    skipped_reason: str
    seconds: float
    def __init__(self, applied: _Optional[bool] = ..., grad_norm: _Optional[float] = ..., step: _Optional[int] = ..., skipped_reason: _Optional[str] = ..., seconds: _Optional[float] = ...) -> None: ...

class AverageRequest(_message.Message):
    __slots__ = ("call", "model_id", "of", "decay")
    CALL_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    DECAY_FIELD_NUMBER: _ClassVar[int]
    call: int
    model_id: str
    of: str
    decay: float
    def __init__(self, call: _Optional[int] = ..., model_id: _Optional[str] = ..., of: _Optional[str] = ..., decay: _Optional[float] = ...) -> None: ...

class AverageResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PublishRequest(_message.Message):
    __slots__ = ("call", "model_id", "in_flight")
    CALL_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    call: int
    model_id: str
    in_flight: _sampler_pb2.InFlight
    def __init__(self, call: _Optional[int] = ..., model_id: _Optional[str] = ..., in_flight: _Optional[_Union[_sampler_pb2.InFlight, str]] = ...) -> None: ...

class PublishResponse(_message.Message):
    __slots__ = ("version", "checksum", "seconds")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    version: int
    checksum: str
    seconds: float
    def __init__(self, version: _Optional[int] = ..., checksum: _Optional[str] = ..., seconds: _Optional[float] = ...) -> None: ...

class WeightsRequest(_message.Message):
    __slots__ = ("model_id",)
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    def __init__(self, model_id: _Optional[str] = ...) -> None: ...

class WeightsResponse(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: WeightsHeader
    data: bytes
    def __init__(self, header: _Optional[_Union[WeightsHeader, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class WeightsHeader(_message.Message):
    __slots__ = ("version", "checksum", "config_json", "dtype", "float32_head", "lora_json", "tokenizer_files", "tensors")
    class TokenizerFilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    FLOAT32_HEAD_FIELD_NUMBER: _ClassVar[int]
    LORA_JSON_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FILES_FIELD_NUMBER: _ClassVar[int]
    TENSORS_FIELD_NUMBER: _ClassVar[int]
    version: int
    checksum: str
    config_json: str
    dtype: str
    float32_head: bool
    lora_json: str
    tokenizer_files: _containers.ScalarMap[str, bytes]
    tensors: _containers.RepeatedCompositeFieldContainer[TensorHeader]
    def __init__(self, version: _Optional[int] = ..., checksum: _Optional[str] = ..., config_json: _Optional[str] = ..., dtype: _Optional[str] = ..., float32_head: _Optional[bool] = ..., lora_json: _Optional[str] = ..., tokenizer_files: _Optional[_Mapping[str, bytes]] = ..., tensors: _Optional[_Iterable[_Union[TensorHeader, _Mapping]]] = ...) -> None: ...

class TensorHeader(_message.Message):
    __slots__ = ("name", "dtype", "shape", "same_as")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    SAME_AS_FIELD_NUMBER: _ClassVar[int]
    name: str
    dtype: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    same_as: str
    def __init__(self, name: _Optional[str] = ..., dtype: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., same_as: _Optional[str] = ...) -> None: ...

class WriteWeightsRequest(_message.Message):
    __slots__ = ("model_id", "directory", "untied")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    UNTIED_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    directory: str
    untied: bool
    def __init__(self, model_id: _Optional[str] = ..., directory: _Optional[str] = ..., untied: _Optional[bool] = ...) -> None: ...

class WriteWeightsResponse(_message.Message):
    __slots__ = ("version", "checksum", "files")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    version: int
    checksum: str
    files: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, version: _Optional[int] = ..., checksum: _Optional[str] = ..., files: _Optional[_Iterable[str]] = ...) -> None: ...

class SaveRequest(_message.Message):
    __slots__ = ("call", "directory", "model_ids")
    CALL_FIELD_NUMBER: _ClassVar[int]
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    MODEL_IDS_FIELD_NUMBER: _ClassVar[int]
    call: int
    directory: str
    model_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, call: _Optional[int] = ..., directory: _Optional[str] = ..., model_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class SaveResponse(_message.Message):
    __slots__ = ("bytes", "checksum")
    BYTES_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    bytes: int
    checksum: str
    def __init__(self, bytes: _Optional[int] = ..., checksum: _Optional[str] = ...) -> None: ...

class LoadRequest(_message.Message):
    __slots__ = ("call", "directory", "micro_batch_tokens", "gradient_checkpointing")
    CALL_FIELD_NUMBER: _ClassVar[int]
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    MICRO_BATCH_TOKENS_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_CHECKPOINTING_FIELD_NUMBER: _ClassVar[int]
    call: int
    directory: str
    micro_batch_tokens: int
    gradient_checkpointing: bool
    def __init__(self, call: _Optional[int] = ..., directory: _Optional[str] = ..., micro_batch_tokens: _Optional[int] = ..., gradient_checkpointing: _Optional[bool] = ...) -> None: ...

class LoadResponse(_message.Message):
    __slots__ = ("models", "last_call")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    LAST_CALL_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[ModelInfo]
    last_call: int
    def __init__(self, models: _Optional[_Iterable[_Union[ModelInfo, _Mapping]]] = ..., last_call: _Optional[int] = ...) -> None: ...

class ExportRequest(_message.Message):
    __slots__ = ("call", "model_id", "directory", "merge_adapter")
    CALL_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    MERGE_ADAPTER_FIELD_NUMBER: _ClassVar[int]
    call: int
    model_id: str
    directory: str
    merge_adapter: bool
    def __init__(self, call: _Optional[int] = ..., model_id: _Optional[str] = ..., directory: _Optional[str] = ..., merge_adapter: _Optional[bool] = ...) -> None: ...

class ExportResponse(_message.Message):
    __slots__ = ("files",)
    FILES_FIELD_NUMBER: _ClassVar[int]
    files: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, files: _Optional[_Iterable[str]] = ...) -> None: ...
