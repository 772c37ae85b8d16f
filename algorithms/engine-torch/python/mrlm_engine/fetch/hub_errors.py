"""Failures of huggingface_hub, with what to do about each."""

from __future__ import annotations

import os

from huggingface_hub import constants
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from mrlm_engine.errors import EngineError

_AGAIN = "Then run the same command again: files that are complete are kept."


def explain_hub_error(error: Exception, repository: str, revision: str) -> EngineError:
    """Returns the error for the user: what happened, and what to do."""
    message, hint = _explain(error, repository, revision)
    return EngineError("MODEL_DOWNLOAD_FAILED", message, hint)


def _explain(error: Exception, repository: str, revision: str) -> tuple[str, str]:
    endpoint = constants.ENDPOINT
    page = f"{endpoint}/{repository}"
    token = "the token in HF_TOKEN" if os.environ.get("HF_TOKEN") else "no HF_TOKEN is set"
    if isinstance(error, GatedRepoError):
        return (
            f"{repository} is gated: its authors grant access to it ({token}).",
            f"Accept its terms at {page}, make a token at {endpoint}/settings/tokens, and set HF_TOKEN to it.",
        )
    if isinstance(error, RepositoryNotFoundError):
        return (
            f"The hub {endpoint} shows no model {repository} ({token}).",
            "Check the name: it is ORG/NAME. A private model needs HF_TOKEN, a token of someone who may read it.",
        )
    if isinstance(error, RevisionNotFoundError):
        return (
            f"{repository} has no revision '{revision}'.",
            f"Name a branch, a tag or a whole commit of {page}/commits/main, or none for the newest.",
        )
    if isinstance(error, DisabledRepoError):
        return f"The hub has disabled access to {repository}.", "Choose another model."
    if isinstance(error, RemoteEntryNotFoundError):
        return (
            f"The hub lists a file of {repository} and does not have it: {_first_line(error)}.",
            f"A mirror may be out of date: check HF_ENDPOINT ({endpoint}). {_AGAIN}",
        )
    if isinstance(error, OfflineModeIsEnabled):
        return (
            f"{repository} at '{revision}' is not stored on this machine, and HF_HUB_OFFLINE forbids a download.",
            "Unset HF_HUB_OFFLINE; or run `mrlm models get` where there is a network, and copy HF_HOME and MRLM_CACHE.",
        )
    if isinstance(error, HFValidationError):
        return f"'{repository}' is no name of a repository: {_first_line(error)}.", "Write hub:ORG/NAME."
    if isinstance(error, HfHubHTTPError):
        return _explain_status(error, repository, token)
    if isinstance(error, PermissionError):
        return (
            f"{repository} could not be written: {error}.",
            "Set HF_HOME (the cache of models) and MRLM_CACHE to directories that you can write to.",
        )
    return (
        f"{repository} could not be downloaded from {endpoint}: {type(error).__name__}: {_first_line(error)}.",
        f"Check the network, HTTPS_PROXY and HF_ENDPOINT. {_AGAIN}",
    )


def _explain_status(error: HfHubHTTPError, repository: str, token: str) -> tuple[str, str]:
    status = error.response.status_code
    message = f"The hub answered {status} for {repository}: {_first_line(error)}."
    if status in (401, 403):
        return message, f"Set HF_TOKEN to a valid token with the right to read this model ({token})."
    if status == 429:
        return message, f"The hub limits the number of requests: wait some minutes, or set HF_TOKEN. {_AGAIN}"
    return message, f"A fault of the hub or of a proxy: wait a while, and check HF_ENDPOINT and HTTPS_PROXY. {_AGAIN}"


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__).rstrip(".")
