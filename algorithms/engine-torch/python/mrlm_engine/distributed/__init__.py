"""Several processes (ranks) as one engine: rank 0 speaks gRPC and says what is done; every rank does its share."""
