"""ONNX's node tests and what runs them, read when this is imported: for processes to share."""

from __future__ import annotations

import warnings

import torch  # noqa: F401
import triton  # noqa: F401

from tile.node_tests import cases

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    cases()
