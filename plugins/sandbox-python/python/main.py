"""Starts a child of the kind `native`."""

import base64
import json
import sys

from mrlm_sandbox import zygote_client
from mrlm_sandbox.isolation import Layers

# The pool sends requests on the first and reads answers from the second.
REQUEST_FD, ANSWER_FD = 3, 4

options = json.loads(sys.argv[1])
layers = Layers(options["tmpBytes"], base64.b64decode(options["seccomp"]), options["hidden"])
# The zygote starts first: it must never hold data of a test or a submission, and runners need not copy what it has not
# loaded.
zygote = zygote_client.start(layers, (REQUEST_FD, ANSWER_FD))

from mrlm_sandbox.native_server import Server  # noqa: E402

Server(zygote, REQUEST_FD, ANSWER_FD, is_for_session=options["isForSession"]).serve()
