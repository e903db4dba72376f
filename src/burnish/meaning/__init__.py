"""What a model means, apart from any engine: evaluated in real numbers, with noise, in a field."""
