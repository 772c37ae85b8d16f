"""Client of environments that `mrlm serve` offers. Adapters are modules that import their frameworks."""

from mrlm_client.aio import AsyncClient, AsyncSession
from mrlm_client.client import Client, Session
from mrlm_client.errors import MrlmError, UnscoredError
from mrlm_client.peer import Tls
from mrlm_client.values import (
    Description,
    Image,
    MalformedCall,
    Message,
    Observation,
    Role,
    Score,
    StepResult,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
    Unscored,
)

__all__ = [
    "AsyncClient",
    "AsyncSession",
    "Client",
    "Description",
    "Image",
    "MalformedCall",
    "Message",
    "MrlmError",
    "Observation",
    "Role",
    "Score",
    "Session",
    "StepResult",
    "Text",
    "Thinking",
    "Tls",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Unscored",
    "UnscoredError",
]
