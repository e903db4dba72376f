"""Right models, small enough to build in no time: what errors are planted in."""
