# Sourced by stage.sh and round.sh: what every process on the lent machine has.
export LENT=${LENT:-/tmp/lent} CARRY=${CARRY:-$PWD/.carry}
export ORT_SITE=$LENT/ortgpu OPENVINO_SITE=$LENT/openvino
export PYTHONPATH=$PWD/src:$LENT/site${PYTHONPATH:+:$PYTHONPATH}
export PYTHONUNBUFFERED=1 OPENBLAS_NUM_THREADS=1 ORT_DISABLE_TELEMETRY=1
export BURNISH_STORE=$LENT/store BURNISH_CACHE=$LENT/cache
unset PYTHONDONTWRITEBYTECODE # hundreds of processes import the same
[ -z "${PYTHON:-}" ] || export PATH=$(cd "$(dirname "$PYTHON")" && pwd):$PATH # for `python3`
mkdir -p "$LENT"
