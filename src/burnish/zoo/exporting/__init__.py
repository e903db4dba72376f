"""From a PyTorch module to an ONNX file: in a process of its own, and never half done."""
