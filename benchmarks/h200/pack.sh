#!/bin/bash
# Here: packs what the lent machine lacks into .carry, in folders that fit beside the tree.
#
#     bash benchmarks/h200/pack.sh [LEDGER.sqlite]
#
# .carry/kit       wheels, exports for the study, the ledger of the rounds before (with every call)
# .carry/ort       onnxruntime-gpu, cut to sm_90 (with calls that measure it)
# .carry/openvino  what the race needs: OpenVINO, models without weights, and what of
#                  onnxruntime-gpu had no room
#
# Exports are packed from the store STORE (default: out/carried/models), where there is one:
#     burnish export swin-t --name swin-t --variant dynamo -p fp16 --store out/carried/models
#
# RACE=no leaves out what only the race needs, which takes longest to make: the plans that have no
# job of that name do without.
#
# What is there is not made again; `rm -r .carry/ort` and the like make it new. PACK is where wheels
# and archives are kept between (default: out/pack), MODELS a folder of exports for the race
# (default: made by benchmarks/compile.py --export). Needs xz, pip, and the network for what is new.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${PYTHON:-.venv/bin/python}
pack=${PACK:-out/pack}
most=$((${MOST_MIB:-64} * 1024 * 1024)) # that travel, the tree included
race=${RACE:-yes}
mkdir -p "$pack" .carry/kit/wheels .carry/ort .carry/openvino

fetched() { # REQUIREMENT…: wheels for the machine's Python, without what they need
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$pack" \
        --python-version 3.12 --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 \
        --only-binary=:all: "$@"
}
pinned() { # NAME: the requirement that constraints.txt has, or the name
    grep -i -m 1 "^${1//[-_]/[-_]}==" constraints.txt || echo "$1"
}
newest() { # PATTERN: of the wheels that were fetched
    find "$pack" -maxdepth 1 -iname "$1" | sort -V | tail -n 1
}
packed() { # FOLDER ARCHIVE: as xz, whole or not at all
    tar c --sort=name --owner=0 --group=0 -C "$1" . | xz --x86 --lzma2=preset=9e,dict=192MiB > "$2.new"
    mv "$2.new" "$2"
}
bytes() { # FOLDER
    du --bytes --summarize "$1" | cut -f 1
}

# 1. what burnish imports and the image may lack; stage.py unpacks only what it does lack
for name in msgspec platformdirs click rich markdown-it-py mdurl jinja2 markupsafe \
    packaging typing_extensions pytest-timeout; do
    [ -n "$(find .carry/kit/wheels -iname "${name//-/[-_]}-*.whl")" ] && continue
    [ -n "$(newest "${name//-/[-_]}-*.whl")" ] || fetched "$(pinned "$name")"
    cp "$(newest "${name//-/[-_]}-*.whl")" .carry/kit/wheels/
done

# 2. the models of the CPU race without their weights
[ ! -s .carry/kit/models.tar.xz ] || mv .carry/kit/models.tar.xz .carry/openvino/
if [ "$race" != no ] && [ ! -s .carry/openvino/models.tar.xz ]; then
    [ -n "${MODELS:-}" ] || "$python" benchmarks/compile.py --export
    "$python" benchmarks/weightless.py pack "${MODELS:-out/bench-compile/models}" "$pack/models.tar.xz"
    mv "$pack/models.tar.xz" .carry/openvino/
fi
[ -z "${1:-}" ] || xz -9 -c "$1" > .carry/kit/ledger.sqlite.xz
[ ! -d "${STORE:-out/carried/models}" ] || "$python" benchmarks/referred.py pack "${STORE:-out/carried/models}" .carry/kit/exports

# 3. onnxruntime-gpu for one kind of card; Python loads no library of it but those that are kept
if [ ! -s "$pack/ort.tar.xz" ]; then
    version=$(pinned onnxruntime)
    [ -n "$(newest "onnxruntime_gpu-*.whl")" ] || fetched "${version/onnxruntime/onnxruntime-gpu}"
    rm -rf "$pack/ort" && mkdir -p "$pack/ort"
    "$python" -m zipfile -e "$(newest "onnxruntime_gpu-*.whl")" "$pack/ort"
    here=$pack/ort/onnxruntime
    rm -rf "$here"/{backend,datasets,quantization,tools,transformers,ThirdPartyNotices.txt}
    rm -rf "$here"/capi/libonnxruntime_providers_tensorrt.so "$here"/capi/libonnxruntime.so.*
    library=$here/capi/libonnxruntime_providers_cuda.so
    "$python" benchmarks/h200/fatbins.py "$library" "$library.cut" --common
    mv "$library.cut" "$library"
    packed "$pack/ort" "$pack/ort.tar.xz"
    rm -rf "$pack/ort"
fi

# 4. OpenVINO, its CPU alone
if [ "$race" != no ] && [ ! -s .carry/openvino/openvino.tar.xz ]; then
    [ -n "$(newest "openvino-*.whl")" ] || fetched "$(pinned openvino)"
    rm -rf "$pack/openvino" && mkdir -p "$pack/openvino"
    "$python" -m zipfile -e "$(newest "openvino-*.whl")" "$pack/openvino"
    here=$pack/openvino/openvino
    rm -rf "$here"/libs/*{gpu,npu,tensorflow,paddle,pytorch,jax,gguf}* "$here"/libs/cache.json
    rm -rf "$here"/{include,cmake,tools,torch} "$here"/frontend/{tensorflow,paddle,pytorch,jax}
    packed "$pack/openvino" .carry/openvino/openvino.tar.xz
    rm -rf "$pack/openvino"
fi

# 5. what has no room beside the tree goes with the next call
tree=$(git ls-files --cached --others --exclude-standard -z | du --bytes --files0-from=- --total 2> /dev/null | tail -n 1 | cut -f 1)
echo "$(stat -c %s "$pack/ort.tar.xz")" > .carry/kit/ort.bytes
kit=$(bytes .carry/kit)
room=$((most - tree - kit - 1024 * 1024))
rm -f .carry/*/ort.part.*
split --bytes="$room" "$pack/ort.tar.xz" .carry/ort/ort.part.
[ ! -e .carry/ort/ort.part.ab ] || mv .carry/ort/ort.part.ab .carry/openvino/
[ ! -e .carry/ort/ort.part.ac ] || { echo "onnxruntime-gpu has grown: three parts" >&2; exit 1; }
for folder in ort openvino; do
    own=$(bytes ".carry/$folder")
    sum=$((tree + kit + own))
    echo "the tree $((tree >> 10)) KiB, .carry/kit $((kit >> 10)), .carry/$folder $((own >> 10)): $((sum >> 10)) of $((most >> 10)) KiB"
    [ "$sum" -lt "$most" ] || { echo "too much to be carried" >&2; exit 1; }
done
