"""The mesh of an engine's ranks: data x context x tensor, of which neighbours along `tensor` have adjacent numbers.

Ranks along `data` compute different units, ranks along `context` parts of the tokens of the same units, and ranks along
`tensor` parts of the products of the same tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from mrlm_engine.compute.context import ContextGroup
from mrlm_engine.errors import EngineError

# Names of the dimensions of `RankMesh.weights`.
SHARD, TENSOR = "shard", "tensor"


@dataclass(frozen=True)
class RankMesh:
    """Sizes of the mesh, and its groups.

    `weights` has two dimensions: SHARD is data x context, whose ranks have the same part of each product, and TENSOR.
    With `divides` (FSDP2) the ranks along SHARD hold parts of the weights, without it copies.
    """

    data: int
    context: int
    tensor: int
    divides: bool
    weights: DeviceMesh
    # Ranks that share the tokens of a unit; None where each computes all of them.
    tokens: ContextGroup | None = None

    @property
    def device_type(self) -> str:
        """Device of the ranks."""
        return str(self.weights.device_type)

    @property
    def parts(self) -> int:
        """Ranks over which the weights of a layer are divided."""
        return self.tensor * (self.data * self.context if self.divides else 1)

    def group(self, dimension: str) -> Any:
        """Returns the process group of this rank along SHARD or TENSOR."""
        return self.weights.get_group(dimension)


def mesh_sizes(world: int, sizes: tuple[int, int, int] | None) -> tuple[int, int, int]:
    """Returns data, context and tensor of `world` ranks. By default all ranks compute different units."""
    if sizes is None:
        return world, 1, 1
    data, context, tensor = sizes
    if data * context * tensor != world:
        raise EngineError(
            "OPTIONS_INVALID",
            f"A mesh of data {data} x context {context} x tensor {tensor} has {data * context * tensor} ranks, and the "
            f"engine has {world}.",
            "Set engine.parallel (--parallel) so that the product is the number of processes on all machines.",
        )
    return sizes


def rank_mesh(device_type: str, sizes: tuple[int, int, int], *, divides: bool) -> RankMesh | None:
    """Creates the groups of a mesh; None where each rank holds all weights and computes units by itself. A collective.

    On one rank there are no groups.
    """
    data, context, tensor = sizes
    if data * context * tensor == 1 or (context * tensor == 1 and not divides):
        return None
    weights = init_device_mesh(device_type, (data * context, tensor), mesh_dim_names=(SHARD, TENSOR))
    tokens = None
    if context > 1:
        whole = init_device_mesh(device_type, sizes, mesh_dim_names=("data", "context", TENSOR))
        tokens = ContextGroup(whole.get_local_rank("context"), context, whole.get_group("context"))
    return RankMesh(data, context, tensor, divides, weights, tokens)
