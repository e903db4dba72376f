"""What is known of a model's values without running it: constants, element types, shapes."""
