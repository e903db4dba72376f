"""Finding the fastest schedules: kernels are made, proved, timed, and what came of it is kept."""
