"""Make a model smaller by cutting what matters least: which axes, which units, what is lost."""
