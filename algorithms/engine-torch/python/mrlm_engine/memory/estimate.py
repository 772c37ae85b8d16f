"""Estimate of the bytes of a run on each rank's device: a pure function of models, workload and ranks.

Each line has its formula, and docs/train/memory.md lists them. tests/memory/test_estimate.py compares the estimate
with torch's record of allocations.
"""

from __future__ import annotations

from collections.abc import Sequence

from mrlm_engine.memory.passes import pass_lines
from mrlm_engine.memory.plan import Line, ModelPlan, Setting, part_of_rank, size


def estimate(models: Sequence[ModelPlan], setting: Setting, pass_tokens: int) -> list[Line]:
    """Returns lines for all memory at the peak of the run, with at most `pass_tokens` tokens per micro-batch.

    Weights, gradients and optimizer state persist between steps, and so do the sampler's weights and its cache. The
    largest temporary part is added: the pass of one model, or a publication. An optimizer step needs no more.
    """
    lines = [line for model in models for line in (*state_lines(model, setting), *sampler_lines(model, setting))]
    for_a_while = [pass_lines(part_of_rank(model, setting.tensor), setting, pass_tokens) for model in models]
    for_a_while += [publish_lines(model, setting) for model in models]
    return [line for line in [*lines, *max(for_a_while, key=total, default=[])] if line.bytes]


def total(lines: Sequence[Line]) -> int:
    """Returns the bytes of all lines."""
    return sum(line.bytes for line in lines)


def state_lines(model: ModelPlan, setting: Setting) -> list[Line]:
    """Returns the memory of a model that persists between steps."""
    model = part_of_rank(model, setting.tensor)
    # Merged weights are copies of all weights. Without an adapter only weights with a folded norm are copies.
    fused = model.shape.layer_weights if model.adapter_parameters else model.shape.folded_weights
    shape, b, ranks = model.shape, model.dtype_bytes, setting.ranks_of_weights
    hot = [Line(model.id, "hot path's weights", b * fused, f"{size(fused)} x {b} bytes")] if model.is_dense else []
    if model.shares_weights:
        return hot
    count, learns = shape.parameters, model.trainable_parameters
    divided = ranks > 1
    of_rank = f" / {ranks} ranks" if divided else ""
    adapter = model.adapter_parameters
    # Sharded trainable weights are their own master copies.
    masters = learns if divided and not adapter else 0
    parts = [f"{size(n)} parameters x {width} bytes" for n, width in ((count - masters, b), (masters, 4)) if n]
    weights = (count - masters) * b + masters * 4
    lines = []
    if not model.shares_base:
        lines.append(Line(model.id, "weights", weights // ranks, f"{' + '.join(parts)}{of_rank}"))
    if adapter:
        lines.append(Line(model.id, "adapter", 4 * adapter, f"{size(adapter)} parameters x 4 bytes"))
    if divided:
        gathered = max(count // max(1, shape.layers), shape.vocabulary * shape.hidden)
        lines.append(Line(model.id, "gathered layer", gathered * b, f"{size(gathered)} parameters x {b} bytes"))
    lines += hot
    if learns:
        if adapter:
            # Each rank holds the whole adapter.
            ranks, of_rank = 1, ""
        lines.append(Line(model.id, "gradients", 4 * learns // ranks, f"{size(learns)} trainable x 4 bytes{of_rank}"))
        lines.append(
            Line(model.id, "optimizer", 8 * learns // ranks, f"{size(learns)} trainable x 2 moments x 4 bytes{of_rank}")
        )
        if b < 4 and not divided and not adapter:
            lines.append(Line(model.id, "master copies", 4 * learns, f"{size(learns)} trainable x 4 bytes"))
    return lines


def sampler_lines(model: ModelPlan, setting: Setting) -> list[Line]:
    """Returns the memory of a model's sampler: its copy of the weights, whole on every rank, and keys and values."""
    if model.id not in setting.sampled_models:
        return []
    shape, b = model.shape, model.dtype_bytes
    lines = [
        Line(model.id, "sampler's weights", shape.parameters * b, f"{size(shape.parameters)} parameters x {b} bytes")
    ]
    if model.adapter_parameters:
        adapter = model.adapter_parameters
        # Factors of projections that are computed together are in one block matrix with zeros between them.
        lines.append(Line(model.id, "sampler's adapter", 8 * adapter, f"{size(adapter)} parameters x 2 x 4 bytes"))
    if model.has_float32_head(setting.device):
        head = shape.vocabulary * shape.hidden
        lines.append(Line(model.id, "sampler's head", 4 * head, f"{shape.vocabulary} x {shape.hidden} x 4 bytes"))
    rows = -(-min(setting.concurrency, setting.sampler_rows) // setting.ranks)
    per_token = 2 * shape.layers * shape.key_width * (4 if model.is_dense else b)
    wanted = rows * setting.sequence_tokens * per_token
    formula = f"{rows} sequences x {setting.sequence_tokens} tokens x {per_token} bytes"
    if wanted > setting.sampler_bytes:
        formula += ", at most the sampler's limit: the rest waits"
    lines.append(Line(model.id, "sampler's cache", min(wanted, setting.sampler_bytes), formula))
    return lines


def publish_lines(model: ModelPlan, setting: Setting) -> list[Line]:
    """Returns the temporary memory of a publication, which copies gathered weights."""
    if model.id not in setting.sampled_models or setting.ranks_of_weights * setting.tensor == 1:
        return []
    count, b = model.shape.parameters, model.dtype_bytes
    return [Line(model.id, "publication", count * b, f"{size(count)} parameters x {b} bytes")]
