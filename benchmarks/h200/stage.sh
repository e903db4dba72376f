#!/bin/bash
# On the lent machine: puts what was carried in its place, and says in one line each what works.
#
#     bash benchmarks/h200/stage.sh [--no-card]
#
# Run it with each half of what is carried (pack.sh); what is done is not done again. The exit
# status is 1 if a check failed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. benchmarks/h200/environment.sh
exec "${PYTHON:-python3}" benchmarks/h200/stage.py "$@"
