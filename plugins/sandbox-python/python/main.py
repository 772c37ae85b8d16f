"""Starts a child of the kind `native`."""

import base64
import json
import sys

from mrlm_sandbox import zygote_client
from mrlm_sandbox.isolation import Layers

# On these two the pool sends requests, and reads answers.
REQUEST_FD, ANSWER_FD = 3, 4

options = json.loads(sys.argv[1])
layers = Layers(options["tmpBytes"], base64.b64decode(options["seccomp"]), options["hidden"])
# The zygote comes first: it is never to hold anything of a test or a submission, and what it does not load no runner has to copy.
zygote = zygote_client.start(layers, (REQUEST_FD, ANSWER_FD))

from mrlm_sandbox.native_server import Server  # noqa: E402

Server(zygote, REQUEST_FD, ANSWER_FD, is_for_session=options["isForSession"]).serve()
