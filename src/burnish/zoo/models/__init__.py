"""A row per model where a configuration says it all, a file where there is more to say."""
