#!/bin/bash
# examples/studies/h200.toml on a machine with a card that is lent for minutes, as far as it gets.
#
#     LIMIT=560 CPUS=0-11 RESULTS=FOLDER LEDGER=FILE bash benchmarks/h200_study.sh
#
# LIMIT: seconds until it has ended. CPUS: processors, as taskset names them (default: all).
# RESULTS: a folder for ledger.sqlite (every 20 s and at the end), timeline.txt, machine.txt and
# what each part said. LEDGER: what an earlier lease brought back; it goes on from there.
# EXPORTS: a folder of exports that are restored here (referred.py); what it lacks is exported.
# FIRST, LATER: groups that are begun before all others, and when no other waits.
# WIDE: processors of exports and groups that compute much (default: restormer=3).
# LEAST: seconds that each group has, if there are so many (default 180: all have their turn; more,
# where another lease goes on: a group that is cut off is opened once more then).
# onnxruntime-gpu may lie unpacked in ORT_SITE (default: /tmp/ortgpu). Afterwards, on any machine:
#
#     python benchmarks/study_table.py examples/studies/h200.toml RESULTS/ledger.sqlite \
#         -o FOLDER --own burnish-cuda --names h200
set -u
began=$(date +%s)
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PYTHONPATH=${ORT_SITE:-/tmp/ortgpu}:$PWD/src:${PYTHONPATH:-} OPENBLAS_NUM_THREADS=1
unset PYTHONDONTWRITEBYTECODE # hundreds of processes import the same
work=${WORK:-/tmp/h200-study}
results=${RESULTS:-$work/results}
limit=${LIMIT:-540}
ledger=$work/ledger.sqlite
mkdir -p "$work" "$results/told"
[ -f "${LEDGER:-}" ] && [ ! -f "$ledger" ] && cp "$LEDGER" "$ledger"

kept() { # a whole copy, whoever writes meanwhile
    [ -f "$ledger" ] && python3 - "$ledger" "$results/ledger.sqlite" << 'PY'
import os, sqlite3, sys
source, target = sqlite3.connect(sys.argv[1]), sys.argv[2]
fresh = sqlite3.connect(target + ".new")
source.backup(fresh)
fresh.execute("PRAGMA journal_mode = DELETE")
fresh.close()
os.replace(target + ".new", target)
PY
    for file in "$work"/told/*.txt; do
        [ -f "$file" ] && tail -c 12000 "$file" > "$results/told/$(basename "$file")"
    done
}
watched() {
    date -u +%T
    nvidia-smi --query-gpu=memory.used,utilization.gpu --format=csv,noheader
    free -g | sed -n 2p
    uptime
}
(while sleep 20; do kept; watched >> "$results/machine.txt" 2>&1; done) &
loop=$!
trap 'kill $loop 2> /dev/null; kept' EXIT
trap 'exit 143' TERM INT

{ date -u; nvidia-smi -L; python3 --version; echo "processors ${CPUS:-all}, $limit s"; } \
    > "$results/timeline.txt" 2>&1
python3 benchmarks/side_by_side.py "${STUDY:-examples/studies/h200.toml}" -o "$work" \
    --ledger "$ledger" --seconds $((limit - ($(date +%s) - began) - 15)) --cpus "${CPUS:-}" \
    ${EXPORTS:+--carried "$EXPORTS"} ${FIRST:+--first "$FIRST"} ${LATER:+--later "$LATER"} \
    --wide "${WIDE:-restormer=3}" --least "${LEAST:-180}" ${SMALL:+--small} \
    --whole bsrn-batch64,bert-base-batch32-sequence512,restormer-batch1 \
    >> "$results/timeline.txt" 2>&1 &
wait $!
