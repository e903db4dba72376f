"""What a compiled folder needs to run: no compiler, no ONNX; ONNX Runtime only for its parts."""
