"""Plugin of verifiers, which finds plugins by the names of top-level modules."""

from mrlm_client.verifiers import *  # noqa: F403
from mrlm_client.verifiers import __all__ as __all__
