"""The meaning of ONNX operators as loop nests: one family per file."""
