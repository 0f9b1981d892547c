"""Networks of torch as ONNX files, their weights as whole numbers of eight bits.

Matrices are scaled by column and products computed in whole numbers (``quantize_dynamic``); tables of vectors, such as
those of word pieces, are scaled by row and made floats again where a row is looked up, which costs next to nothing and
keeps small rows exact. Whatever else there is stays float32. Matrices use seven bits of the eight: on processors
without instructions for eight-bit products, sums of two products of eight bits would overflow, and the answers would
depend on the machine.
"""

from __future__ import annotations

import contextlib
import io
import logging
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy

from ....ingest.models.optional import library
from ....ingest.models.tagging.runtime import EMISSIONS

if TYPE_CHECKING:
    from ....ingest.models.tagging.network import Network

#: The version of ONNX's operators: old enough for onnxruntime 1.17, and with LayerNormalization.
_OPERATORS: Final = 18
#: Tables of fewer numbers stay as they are: they would save little.
_LARGE: Final = 50_000
_LARGEST: Final = 127


def write_onnx(network: Network, arrays: Mapping[str, Any], path: Path) -> None:
    """Write a network as float32 ONNX; ``arrays``: some windows (two or more of them, of two or more words)."""
    torch = library("torch", "models")
    library("onnxscript", "models")
    free = torch.export.Dim.DYNAMIC
    names = list(network.settings.inputs)
    given = tuple(torch.from_numpy(arrays[name]) for name in names)
    with _quiet():
        torch.onnx.export(
            network.eval().float().cpu(),
            given,
            str(path),
            input_names=names,
            output_names=[EMISSIONS],
            dynamic_shapes=(tuple({0: free, 1: free} for _ in names),),
            dynamo=True,
            external_data=False,
            opset_version=_OPERATORS,
            verbose=False,
        )


def write_int8(source: Path, target: Path, keep: Sequence[str] = ()) -> None:
    """Write a float32 ONNX file with weights of eight bits; products whose names ``keep`` holds stay float32."""
    onnx = library("onnx", "models")
    quantization = library("onnxruntime.quantization", "models")
    with tempfile.TemporaryDirectory() as folder, _quiet():
        tables = Path(folder) / "tables.onnx"
        onnx.save(_with_small_tables(onnx, onnx.load(str(source))), str(tables))
        quantization.quantize_dynamic(
            str(tables),
            str(target),
            op_types_to_quantize=["MatMul", "Gemm"],
            per_channel=True,
            reduce_range=True,
            nodes_to_exclude=list(keep),
        )


def _with_small_tables(onnx: Any, model: Any) -> Any:
    """The model with each large table as eight bits and a scale a row."""
    tables = {one.name: one for one in model.graph.initializer}
    nodes: list[Any] = []
    done: set[str] = set()
    for node in model.graph.node:
        name = node.input[0] if node.op_type == "Gather" else ""
        by_row = all(one.name != "axis" or one.i == 0 for one in node.attribute)
        if name not in tables or not by_row or len(tables[name].dims) != 2 or numpy.prod(tables[name].dims) < _LARGE:
            nodes.append(node)
            continue
        if name not in done:
            small, scales = rows_as_int8(onnx.numpy_helper.to_array(tables[name]))
            model.graph.initializer.append(onnx.numpy_helper.from_array(small, f"{name}.rows"))
            model.graph.initializer.append(onnx.numpy_helper.from_array(scales, f"{name}.scales"))
            done.add(name)
        at, found = node.input[1], node.output[0]
        nodes += [
            onnx.helper.make_node("Gather", [f"{name}.rows", at], [f"{found}.rows"]),
            onnx.helper.make_node("Cast", [f"{found}.rows"], [f"{found}.floats"], to=onnx.TensorProto.FLOAT),
            onnx.helper.make_node("Gather", [f"{name}.scales", at], [f"{found}.scales"]),
            onnx.helper.make_node("Mul", [f"{found}.floats", f"{found}.scales"], [found]),
        ]
    used = {name for node in nodes for name in node.input}
    kept = [one for one in model.graph.initializer if one.name in used]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(kept)
    return model


def rows_as_int8(table: Any) -> tuple[Any, Any]:
    """A float [rows, width] table as (int8 of the same shape, float32 [rows, 1]): their product is the table, to half a
    scale. A row of zeros has the scale nought."""
    scales = numpy.abs(table).max(axis=1, keepdims=True) / _LARGEST
    small = numpy.round(table / numpy.where(scales == 0, 1, scales)).astype(numpy.int8)
    return small, scales.astype(numpy.float32)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The libraries tell of their steps on every stream that there is; none of it is for the user."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
