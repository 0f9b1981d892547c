"""Computing emissions: the network of a model directory in onnxruntime (no torch needed) or in torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy
from numpy.typing import NDArray

from ....kb.errors import BadModel, UsageError
from ..optional import library
from .features import Arrays
from .model_directory import ONNX, WEIGHTS, ModelDirectory

RUNTIMES: Final = ("auto", "onnx", "torch")
PRECISIONS: Final = ("float32", "bfloat16", "float16")
#: Pieces (with their padding) that go through a network at a time on other devices than the processor.
_DEVICE_BATCH: Final = 32768
EMISSIONS: Final = "emissions"


class Emissions(Protocol):
    """A network that is ready to compute.

    ``batch``: how many pieces may go through at a time; 0: one window at a time, so that nothing depends on what
    else is read. ``threads``: how many windows may be computed side by side.
    """

    @property
    def batch(self) -> int: ...
    @property
    def threads(self) -> int: ...

    def __call__(self, arrays: Arrays) -> NDArray[numpy.float32]:
        """Emissions, float32 [B, W, T], of the arrays of B windows (see ``features``)."""

    def describe(self) -> dict[str, Any]:
        """What computes, and how: for signatures."""


class OnnxEmissions:
    """The network in onnxruntime, on the processor.

    A network of whole numbers (int8) scales its activations over all that goes through at once, so windows go one at
    a time; ``threads`` of them side by side.
    """

    batch: Final = 0

    def __init__(self, path: Path, inputs: Sequence[str], tags: int, threads: int = 1) -> None:
        """BadModel for a file that is no network, or one with other inputs or outputs than said."""
        runtime = library("onnxruntime", "ner")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self._session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library's errors have no root of their own
            raise BadModel(f"'{path}' holds no network that onnxruntime can read. Hint: export it again") from error
        has = [one.name for one in self._session.get_inputs()]
        if sorted(has) != sorted(inputs):
            raise BadModel(
                f"the network in '{path}' reads {', '.join(has)}; its card says {', '.join(inputs)}. Hint: the card is"
                " of another model; copy the whole directory"
            )
        outputs = self._session.get_outputs()
        shape = outputs[0].shape if len(outputs) == 1 else []
        if len(shape) != 3 or (isinstance(shape[2], int) and shape[2] != tags):
            raise BadModel(
                f"the network in '{path}' does not give {tags} scores a word, which its card says. Hint: the card is of"
                " another model; copy the whole directory"
            )
        self._inputs = tuple(inputs)
        self._file = path.name
        self.threads: Final = threads

    def __call__(self, arrays: Arrays) -> NDArray[numpy.float32]:
        """Emissions, float32 [B, W, T]."""
        found: NDArray[numpy.float32] = self._session.run(None, {name: arrays[name] for name in self._inputs})[0]
        return found

    def describe(self) -> dict[str, Any]:
        """Library, version, device, precision, threads."""
        version = library("onnxruntime", "ner").__version__
        return {"runtime": f"onnxruntime {version}", "device": "cpu", "network": self._file, "threads": self.threads}


class TorchEmissions:
    """The network in torch, on any of its devices; ``precision`` is that of the arithmetic, emissions are float32."""

    def __init__(
        self,
        model: ModelDirectory,
        device: str = "cpu",
        precision: str = "float32",
        threads: int = 1,
        batch: int | None = None,
    ) -> None:
        """UsageError for a device or precision that there is not; BadModel for weights that cannot be read or do not
        fit the network of the card."""
        if precision not in PRECISIONS:
            raise UsageError(f"precision is one of {', '.join(PRECISIONS)}, not {precision!r}")
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        torch = self._torch = library("torch", "models")
        self._device = device_named(torch, device)
        if self._device.type == "cpu":
            torch.set_num_threads(threads)
        self._network = torch_network(model).to(self._device).eval()
        self._dtype = getattr(torch, precision)
        self._precision = precision
        self._inputs = model.card.inputs
        self._threads = threads
        self.threads: Final = 1
        self.batch: Final = batch if batch is not None else 0 if self._device.type == "cpu" else _DEVICE_BATCH

    def __call__(self, arrays: Arrays) -> NDArray[numpy.float32]:
        """Emissions, float32 [B, W, T]."""
        torch = self._torch
        given = [torch.from_numpy(arrays[name]).to(self._device, non_blocking=True) for name in self._inputs]
        lower = self._precision != "float32"
        with torch.inference_mode(), torch.autocast(self._device.type, self._dtype, enabled=lower):
            found: NDArray[numpy.float32] = self._network(*given).float().cpu().numpy()
        return found

    def describe(self) -> dict[str, Any]:
        """Library, version, device, precision, threads."""
        signature = {"runtime": f"torch {self._torch.__version__}", "device": self._device.type}
        return {**signature, "precision": self._precision, "threads": self._threads}


def emissions_of(
    model: ModelDirectory,
    device: str = "cpu",
    runtime: str = "auto",
    threads: int = 1,
    precision: str = "float32",
    batch: int | None = None,
) -> Emissions:
    """The network of a model, ready to compute. ``auto``: onnxruntime on the processor where the directory has a file
    for it, torch else. UsageError for what is not there, naming what to install or to ask for."""
    if runtime not in RUNTIMES:
        raise UsageError(f"runtime is one of {', '.join(RUNTIMES)}, not {runtime!r}")
    if threads < 1:
        raise UsageError(f"{threads} threads cannot compute. Hint: 1 or more")
    if runtime == "auto":
        runtime = "onnx" if device == "cpu" and precision == "float32" and model.has(ONNX) else "torch"
    if runtime == "torch":
        return TorchEmissions(model, device, precision, threads, batch)
    if device != "cpu" or precision != "float32":
        raise UsageError("the int8 network runs on the processor, as it is. Hint: runtime='torch' for other devices")
    return OnnxEmissions(model.file(ONNX), model.card.inputs, len(model.card.labels), threads)


def device_named(torch: Any, name: str) -> Any:
    """The device of a name, after a number was put on it. UsageError for one that is none, or is not here."""
    kind = name.partition(":")[0]
    there = {
        "cpu": lambda: True,
        "cuda": torch.cuda.is_available,
        "mps": lambda: bool(getattr(torch.backends, "mps", None)) and torch.backends.mps.is_available(),
    }
    if kind not in there:
        raise UsageError(f"unknown device {name!r}. Hint: one of {', '.join(there)}")
    if not there[kind]():
        raise UsageError(f"there is no such device here: {name!r}. Hint: --device cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except RuntimeError as error:
        raise UsageError(f"there is no such device here: {name!r}. Hint: --device cpu") from error
    return device


def torch_network(model: ModelDirectory) -> Any:
    """The network of a card with its weights, in torch. Only tensors are read: nothing of a file is run.

    UsageError without torch; BadModel for weights that are missing, cannot be read, or do not fit.
    """
    torch = library("torch", "models")
    library("transformers", "models")
    name = next((one for one in WEIGHTS if model.has(one)), None)
    if name is None:
        raise BadModel(
            f"the model in '{model.folder}' has no weights for torch ({' or '.join(WEIGHTS)}). Hint: runtime 'onnx' on"
            " the processor, or the directory as it was trained"
        )
    path = model.file(name)
    from .network import Network, NetworkSettings

    try:
        settings = NetworkSettings.from_dict(model.card.network)
        network = Network(settings)
    except Exception as error:  # settings of any kind may stand in a card
        raise BadModel(
            f"the card of '{model.folder}' describes no network that this program can make. Hint: train it again"
        ) from error
    if settings.inputs != model.card.inputs:
        raise BadModel(f"the card of '{model.folder}' names other inputs than its network reads. Hint: copy it again")
    try:
        if path.suffix == ".safetensors":
            weights = library("safetensors.torch", "models").load_file(str(path))
        else:
            weights = torch.load(path, map_location="cpu", weights_only=True)
    except UsageError:
        raise
    except Exception as error:  # each kind of broken file has its own
        raise BadModel(f"'{path}' holds no weights that can be read. Hint: copy the model again") from error
    try:
        network.load_state_dict(weights)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise BadModel(
            f"the weights in '{path}' are not of the network that the card describes. Hint: copy the whole directory"
        ) from error
    return network
