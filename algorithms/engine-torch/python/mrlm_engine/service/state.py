"""State that the handlers of one engine share."""

from __future__ import annotations

import threading
import uuid

from mrlm_engine.compute.collectives import world_size
from mrlm_engine.compute.mesh import mesh_sizes, rank_mesh
from mrlm_engine.device import DeviceSettings
from mrlm_engine.models import LoadedModel, ModelRegistry
from mrlm_engine.models.placement import Placement
from mrlm_engine.ranks.group import Channel
from mrlm_engine.ranks.leader import LeadingRank
from mrlm_engine.ranks.protocol import Ranks, SingleRank
from mrlm_engine.sampling import InFlight, PublishResult, Sampler
from mrlm_engine.service.calls import CallLog
from mrlm_engine.service.rank_samplers import RankAddress, RankSampler
from mrlm_engine.settings import EngineSettings
from mrlm_engine.training.lanes import LaneThreads
from mrlm_engine.training.open_passes import OpenPasses
from mrlm_engine.training.run_pass import GraphLimits
from mrlm_engine.training.trainable_model import TrainableModel


class EngineState:
    """Models with their trainable models and samplers, and the log of numbered calls."""

    def __init__(self, settings: EngineSettings, device: DeviceSettings, channel: Channel | None = None) -> None:
        """`channel` connects to the other ranks; None without other ranks."""
        self.settings = settings
        self.device = device
        self.instance_id = uuid.uuid4().hex
        self.lane_threads = LaneThreads(device.lanes)
        sizes = mesh_sizes(world_size(), settings.parallel)
        mesh = rank_mesh(device.device.type, sizes, divides=settings.strategy == "fsdp")
        self.placement = Placement(device.device, mesh)
        self.registry = ModelRegistry()
        self.calls = CallLog()
        self.ranks: Ranks = SingleRank(self) if channel is None else LeadingRank(self, channel, world_size(), sizes[0])
        self.passes = OpenPasses(self.ranks)
        # Samplers of the other ranks. Rank 0 divides sequences among them.
        self.rank_samplers: list[RankAddress] = []
        self.limits = GraphLimits(settings.graph_lease_seconds, settings.graph_bytes)
        self._lock = threading.RLock()
        self._trainable_models: dict[str, TrainableModel] = {}
        self._samplers: dict[str, Sampler] = {}

    def trainable_model(self, model_id: str) -> TrainableModel:
        """Returns the trainable model of an id, created on the first call."""
        model = self.registry.get(model_id)
        with self._lock:
            trainable = self._trainable_models.get(model_id)
            if trainable is None or trainable.model is not model:
                trainable = self._trainable_models[model_id] = TrainableModel(model, self.lane_threads)
            return trainable

    def sampler(self, model_id: str) -> Sampler:
        """Returns a model's sampler. On the first call every rank creates its own, with the current weights."""
        self.registry.get(model_id)
        if model_id not in self._samplers:
            self.ranks.everywhere(_open_sampler, model_id)
        return self.own_sampler(model_id)

    def samplers(self) -> dict[str, Sampler]:
        """Returns this rank's samplers by model."""
        with self._lock:
            return dict(self._samplers)

    def own_sampler(self, model_id: str) -> Sampler:
        """Returns this rank's sampler of a model."""
        model = self.registry.get(model_id)
        with self._lock:
            sampler = self._samplers.get(model_id)
            if sampler is None:
                with model.lock:
                    others = [RankSampler(address, model_id) for address in self.rank_samplers]
                    sampler = self._samplers[model_id] = Sampler(model, self.device.deterministic, others=others)
            return sampler

    def publish(self, model_id: str, rule: InFlight) -> PublishResult:
        """Publishes the trainer's weights to this rank's sampler."""
        return self.own_sampler(model_id).publish(rule)

    def adopt(self, model: LoadedModel, sampler: Sampler) -> None:
        """Replaces a model and its sampler, in a process that trains nothing."""
        self._forget(model.model_id)
        self.registry.replace(model)
        with self._lock:
            self._samplers[model.model_id] = sampler

    def release(self, model_id: str) -> None:
        """Frees a model with its sampler and training state."""
        self.registry.remove(model_id)
        self._forget(model_id)

    def replace(self, models: list[LoadedModel]) -> None:
        """Replaces models with the same ids."""
        for model in models:
            self._forget(model.model_id)
            self.registry.replace(model)

    def close(self) -> None:
        """Closes all samplers and the lanes."""
        with self._lock:
            for sampler in self._samplers.values():
                sampler.close()
            self._samplers.clear()
        self.lane_threads.close()

    def _forget(self, model_id: str) -> None:
        with self._lock:
            self._trainable_models.pop(model_id, None)
            sampler = self._samplers.pop(model_id, None)
        if sampler is not None:
            sampler.close()


def _open_sampler(state: EngineState, model_id: str) -> None:
    state.own_sampler(model_id)
