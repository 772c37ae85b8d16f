"""Matrix products: whichever library computes them, they are the same function of any layout and size."""

from __future__ import annotations

import pytest
import torch

from mrlm_engine.compute import matmul as products

SIZES = [(3, 5, 7), (200, 128, 48), (200, 128, 1024), (257, 512, 128)]


@pytest.fixture(params=["onednn", "torch"], autouse=True)
def _library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "onednn" and not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        pytest.skip("this torch has no oneDNN")
    monkeypatch.setattr(products, "_onednn_is_faster", lambda: request.param == "onednn")


def matrix(rows: int, columns: int, layout: str) -> torch.Tensor:
    """Returns normal numbers; "gaps" leaves room between rows, "columns" has columns in one piece."""
    if layout == "columns":
        return torch.randn(columns, rows).t()
    return torch.randn(rows, 2 * columns)[:, :columns] if layout == "gaps" else torch.randn(rows, columns)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", ["rows", "columns", "gaps"])
def test_linear(size: tuple[int, int, int], layout: str) -> None:
    n, inputs, outputs = size
    x, weight, bias = matrix(n, inputs, layout), matrix(outputs, inputs, layout), torch.randn(outputs)
    expected = (x.double() @ weight.double().t()).float()
    torch.testing.assert_close(products.linear(x, weight), expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(products.linear(x, weight, bias), expected + bias, atol=1e-4, rtol=1e-4)
    accumulator = torch.ones(n, outputs)
    products.add_linear_(accumulator, x, weight)
    torch.testing.assert_close(accumulator, expected + 1, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", ["rows", "columns", "gaps"])
def test_weight_gradient(size: tuple[int, int, int], layout: str) -> None:
    n, inputs, outputs = size
    x, grad = matrix(n, inputs, layout), matrix(n, outputs, layout)
    expected = (grad.double().t() @ x.double()).float()
    for accumulator in (torch.zeros(outputs, inputs), products.accumulator_for(torch.empty(outputs, inputs))):
        assert accumulator.shape == (outputs, inputs)
        products.add_weight_gradient_(accumulator, grad, x)
        products.add_weight_gradient_(accumulator, grad, x)
        torch.testing.assert_close(accumulator, 2 * expected, atol=1e-3, rtol=1e-4)
