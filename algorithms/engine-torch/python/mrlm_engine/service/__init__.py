"""The gRPC service: from messages to the engine's parts and back."""
