"""Connections from the plain settings of a configuration file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mrlm_client.errors import MrlmError
from mrlm_client.peer import Tls


def connection(token_env: str | None = None, ca_file: str | None = None) -> dict[str, Any]:
    """Returns the arguments of `Client` for a server with a token or TLS.

    Args:
        token_env: name of the environment variable that holds the token.
        ca_file: file with the certificates of the authorities, in PEM form.

    Raises:
        MrlmError: CONFIG_INVALID for a variable that is not set.
    """
    arguments: dict[str, Any] = {}
    if token_env is not None:
        if token_env not in os.environ:
            raise MrlmError("CONFIG_INVALID", f"The environment variable {token_env} is not set.", "Set it.")
        arguments["token"] = os.environ[token_env]
    if ca_file is not None:
        arguments["tls"] = Tls(ca=Path(ca_file).read_bytes())
    return arguments
