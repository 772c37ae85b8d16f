"""The language-model head as a function with a gradient."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from mrlm_engine.compute.matmul import float32_linear, linear
from mrlm_engine.compute.tensors import whole
from mrlm_engine.models.loaded_model import LoadedModel


@dataclass(frozen=True)
class LogitsHead:
    """logits = cap * tanh(scale * (hidden W' + b) / cap), without the cap where there is none.

    `weight` [V, h] and `bias` [V] are in the format of the product's factors: float32 if that is the model's format or,
    on a CPU, if `float32_head` is set, else the model's. With `is_wide` the product of factors in 16 bits is not
    rounded to their format.
    """

    weight: torch.Tensor
    bias: torch.Tensor | None
    scale: float
    cap: float
    is_wide: bool = False

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        """Returns float32 logits [R, V] of `hidden` [R, h]."""
        hidden = hidden.to(self.weight.dtype)
        if self.is_wide:
            return self.scaled_(float32_linear(hidden, self.weight, self.bias))
        return self.scaled_(linear(hidden, self.weight, self.bias).float())

    def scaled_(self, logits: torch.Tensor) -> torch.Tensor:
        """Applies scale and cap to float32 `logits`, which it may overwrite."""
        if self.scale != 1.0:
            logits = logits.mul_(self.scale)
        if self.cap:
            logits = logits.div_(self.cap).tanh_().mul_(self.cap)
        return logits

    def product_gradient(self, grad: torch.Tensor, logits: torch.Tensor | None) -> torch.Tensor:
        """Returns d loss / d product from d loss / d logits (overwritten), in the product's format; the cap reads
        `logits`.
        """
        if self.cap and logits is not None:
            # d tanh = 1 - tanh^2, and logits / cap is the tanh.
            grad = grad.mul_(1.0 - (logits / self.cap).square_())
        if self.scale != 1.0:
            grad = grad.mul_(self.scale)
        return grad.to(self.weight.dtype)


def logits_head(model: LoadedModel, hidden: torch.dtype | None = None) -> LogitsHead:
    """Returns the head of a model with the cap and the scale of its configuration (Gemma; Cohere and Granite).

    It computes in float32 if the format `hidden` of its inputs is that. A collective where the weights are divided
    among the ranks.
    """
    layer = model.module.get_output_embeddings()
    bias = getattr(layer, "bias", None)
    weight = whole(layer.weight.detach().to(model.dtype))
    in_float32 = model.float32_head or hidden == torch.float32
    if in_float32 and weight.device.type == "cpu":
        weight = weight.float()
    is_wide = in_float32 and weight.dtype != torch.float32
    config = model.config
    scale = float(getattr(config, "logit_scale", None) or 1.0) / float(getattr(config, "logits_scaling", None) or 1.0)
    cap = float(getattr(config, "final_logit_softcapping", None) or 0.0)
    return LogitsHead(weight, None if bias is None else whole(bias.detach()).to(weight.dtype), scale, cap, is_wide)
