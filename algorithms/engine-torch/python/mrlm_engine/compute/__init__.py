"""Operations of torch that several packages share: matrix products, collectives, sharded tensors, copies to the host.

It also recognises exhausted memory and counts the time of computation.
It must not know models, units or ranks' work.
"""
