"""Memory of one forward and backward pass."""

from __future__ import annotations

from mrlm_engine.llama.attention import MAX_KEPT_KEYS
from mrlm_engine.logprobs.blocks import block_size
from mrlm_engine.logprobs.logprobs import KEPT_NUMBERS, LARGE_VOCABULARY, chunk_rows
from mrlm_engine.memory.plan import Line, ModelPlan, Setting, size
from mrlm_engine.memory.shape import module_numbers


def pass_lines(model: ModelPlan, setting: Setting, tokens: int) -> list[Line]:
    """Returns the memory of a pass that takes `tokens` of the budget, with a graph for a trainable model.

    To the graph comes the largest of three, which are not there together: logits before the backward pass, a layer that
    is computed, and the gradients at its end, in place of the graph.
    """
    layer = tokens * working_numbers(model, setting) * model.dtype_bytes
    if not model.trainable_parameters:
        activations = Line(model.id, "activations", 2 * layer, f"{tokens} tokens, two layers at a time")
        return [activations, _logits(model, setting, tokens)]
    graph, formula = graph_bytes(model, setting, tokens)
    waiting = max(1, min(setting.waiting_graphs, setting.graph_bytes // max(1, graph)))
    layers = 2 if model.gradient_checkpointing else 1
    largest = [
        _logits(model, setting, tokens),
        Line(model.id, "working memory", layers * layer, "a layer's activations" + (" x 2" if layers == 2 else "")),
    ]
    if not model.is_dense and model.dtype_bytes < 4 and not model.adapter_parameters:
        # Gradients of autograd, before they are added in float32.
        passing = model.trainable_parameters * model.dtype_bytes // setting.ranks_of_weights
        formula_passing = f"{size(model.trainable_parameters)} trainable x {model.dtype_bytes} bytes, less a graph"
        largest.append(Line(model.id, "gradients of a pass", max(0, passing - graph), formula_passing))
    lines = [max(largest, key=lambda line: line.bytes)]
    if model.is_dense:
        weights, lanes = model.shape.layer_weights, setting.lanes
        # Each lane except the first also has sums of the embeddings and norms.
        sums = lanes * weights + (lanes - 1) * (model.shape.parameters - weights)
        dense = f"{size(weights)} x 4 bytes" if lanes == 1 else f"{size(sums)} x 4 bytes, {lanes} lanes"
        lines.append(Line(model.id, "hot path's gradients", 4 * sums, dense))
    formula += f", x {waiting} micro-batches" if waiting > 1 else ""
    return [Line(model.id, "activations", waiting * graph, formula), *lines]


def graph_bytes(model: ModelPlan, setting: Setting, tokens: int) -> tuple[int, str]:
    """Returns the bytes that are kept between forward and backward pass over `tokens`, and the formula."""
    shape, b = model.shape, model.dtype_bytes
    # Inputs of layers are in float32 on the hot path.
    inputs = shape.hidden * (4 // b if model.is_dense else 1)
    per_token = inputs if model.gradient_checkpointing else layer_numbers(model, setting)
    # The hidden states that the head reads, and log-probabilities where they are few.
    head = tokens * shape.hidden * b
    kept = 4 * tokens * shape.vocabulary if tokens * shape.vocabulary <= KEPT_NUMBERS else 0
    formula = f"{tokens} tokens x {shape.layers} layers x {per_token} numbers x {b} bytes"
    return tokens * shape.layers * per_token * b + head + kept, formula


def layer_numbers(model: ModelPlan, setting: Setting) -> int:
    """Returns how many numbers one layer keeps per token for its backward pass, in the model's format.

    Counted on the modules of transformers (`module_numbers`) and on the states of the Llama backbone. A mask, where a
    module needs one, adds the length of a row.
    """
    shape = model.shape
    if model.is_dense:
        keys = setting.sequence_tokens
        # Short sequences keep attention probabilities; long ones keep keys and values repeated for each query head.
        attention = shape.heads * keys if keys <= MAX_KEPT_KEYS else 2 * shape.query_width
        if shape.head_norms:
            attention += shape.query_width + shape.key_width
        attention += shape.query_width + 2 * shape.key_width
        return 2 * shape.hidden + 2 * shape.intermediate + shape.query_width + attention * 4 // model.dtype_bytes
    # An adapted layer keeps its input in float32, in place of the frozen layers' inputs in 16 bits: of query, key and
    # value, of the attention's output, of gate and up, and of down. In a float32 model these are kept anyway.
    inputs = 0
    if model.dtype_bytes < 4 and model.adapter_parameters:
        frozen = 2 * shape.hidden + shape.query_width + shape.intermediate
        inputs = model.adapter_inputs * 4 // model.dtype_bytes - frozen
    return module_numbers(shape, model.dtype_bytes) + inputs


def working_numbers(model: ModelPlan, setting: Setting) -> int:
    """Returns the numbers per token of a layer that is being computed: the hot path's backward pass computes two of its
    activations again."""
    return layer_numbers(model, setting) + (2 * model.shape.intermediate if model.is_dense else 0)


def _logits(model: ModelPlan, setting: Setting, tokens: int) -> Line:
    """Returns the memory of the logits of a chunk or block: four float32 copies (logits, log-softmax, gradients)."""
    shape = model.shape
    lanes = setting.lanes if model.is_dense else 1
    block_rows, columns = chunk_rows(setting.device, shape.vocabulary), shape.vocabulary
    if shape.vocabulary > LARGE_VOCABULARY:
        block_rows, columns = block_size(setting.device)
    rows = min(tokens, lanes * block_rows)
    formula = f"{rows} rows x {columns} tokens x 4 x 4 bytes"
    weight = 0
    if model.has_float32_head(setting.device):
        weight = 4 * shape.vocabulary * shape.hidden
        formula += ", and the head in float32"
    return Line(model.id, "logits", 16 * rows * columns + weight, formula)
