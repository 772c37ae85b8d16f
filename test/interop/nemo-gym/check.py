"""Checks sessions that an environment server of NeMo Gym names, by NeMo Gym's own check of resources servers.

python check.py URL

The check takes an application of FastAPI: one that sends each request on to URL stands for the server. The last line is
JSON.
"""

import json
import secrets
import sys
from urllib.error import HTTPError
from urllib.request import Request as Sent
from urllib.request import urlopen

from fastapi import FastAPI, Request, Response
from nemo_gym.base_resources_server import ResourcesSeedSessionRequest
from nemo_gym.testing.session_conformance import check_resources_session_contract

url = sys.argv[1]
app = FastAPI()
statuses: list[int] = []


@app.post("/{path:path}")
async def send_on(path: str, request: Request) -> Response:
    sent = Sent(f"{url}/{path}", await request.body(), {"content-type": "application/json"})
    try:
        with urlopen(sent, timeout=60) as answered:
            status, body = answered.status, answered.read()
    except HTTPError as error:
        status, body = error.code, error.read()
    statuses.append(status)
    return Response(body, status, media_type="application/json")


seed = ResourcesSeedSessionRequest(
    resources_session_id=secrets.token_hex(16),
    episode_id={"rollout_id": "rollout", "attempt": 0},
    task_id={"taskset": "train", "task_id": "1"},
    task_data={"task": "train/1"},
)
check_resources_session_contract(app, seed, keeps_state=True)
print(json.dumps({"statuses": statuses}))
