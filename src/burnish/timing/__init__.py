"""One stopwatch for everybody: how calls are timed, alone and in turns with others."""
