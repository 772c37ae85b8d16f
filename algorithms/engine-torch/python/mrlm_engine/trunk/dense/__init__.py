"""The training hot path for dense decoders of the Llama family in float32 (docs/decisions/0010-training-hot-path.md).

Forward and backward are written out by hand: fused projections, norm weights and the attention scale folded into
them, rotary embedding as one complex multiplication, gradients accumulated by the matrix product itself.
"""
