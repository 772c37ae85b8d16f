"""The gRPC handlers, and the codec between engine.proto's messages and the dataclasses of the packages below.

It joins the parts of the engine: it checks requests, numbers calls, and distributes work over the ranks.
It must not compute: it knows no layer, kernel or sampling rule.
"""
