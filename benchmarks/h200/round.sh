#!/bin/bash
# On the lent machine: stages what came, then runs the jobs of a plan; results go to $OUT.
#
#     bash benchmarks/h200/round.sh benchmarks/h200/round1.toml [options of round.py]
#
# With `--dry` it is tried where there is no card. The round is begun whatever stage.py finds wrong:
# jobs that cannot do without say so, in their first seconds.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. benchmarks/h200/environment.sh
python=${PYTHON:-python3}
case " $* " in *" --dry "*) card=--no-card ;; *) card= ;; esac
"$python" benchmarks/h200/stage.py --quick $card
exec "$python" benchmarks/h200/round.py "$@"
