"""Running kernels on NVIDIA cards, as plans of any back end are run."""
