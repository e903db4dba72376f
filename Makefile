# `make run` and `make test` do all their own set-up; they need Python ≥ 3.11, make and a C compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
EXAMPLE := examples/bert-mini/torchscript
OUT ?= out

.PHONY: run test test-gpu test-ray check lint fast golden docs bench bench-aa bench-quick bench-gpu bench-compile kernels bench-whatif zoo torture clean

run: $(VENV)/.base  ## the main job on the bundled example
	$(BIN)/burnish run $(EXAMPLE) -o $(OUT)

# tests start hundreds of processes: all but the first read what that compiled, also where the
# shell asks Python to keep nothing
test fast: export PYTHONDONTWRITEBYTECODE :=

test: $(VENV)/.dev  ## all tests, the long ones first
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-gpu:  ## what needs an NVIDIA card, with whatever Python has the libraries for it
	PYTHONPATH=src:$(PYTHONPATH) $(PYTHON) -m pytest -p no:benchmark -m gpu tests/cuda

test-ray: $(VENV)/.dev  ## a cluster of two nodes, one of them killed: 79 MB of Ray, and ports of this machine
	$(PIP) --editable '.[ray]'
	$(BIN)/python -m pytest tests/study/test_ray_workers.py

check: lint fast  ## before every commit

lint: $(VENV)/.dev  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

fast: $(VENV)/.dev  ## the tests that take a second or so
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not gpu and not browser"

golden: $(VENV)/.dev  ## accept changed golden files
	$(BIN)/python -m pytest -m "not slow and not gpu" --update-golden

docs: $(VENV)/.dev  ## generate docs/cli.md, docs/options.md and docs/schemas
	$(BIN)/python -m burnish.cli.reference docs

bench: bench-quick bench-compile bench-whatif zoo  ## the figures that docs quote, for hours
	$(BIN)/python benchmarks/rewrite_speed.py --largest 50000 --peers --rounds 4
	$(BIN)/python benchmarks/fusion_gain.py
	$(BIN)/python benchmarks/precision_scale.py
	$(BIN)/python benchmarks/int8_products.py
	$(BIN)/python benchmarks/zoo_speed.py --prepare
	$(BIN)/python benchmarks/zoo_speed.py
	@echo "not run: benchmarks/gpu_bert.py, benchmarks/gpu_folders.py,"
	@echo "         benchmarks/gpu_kernels.py, benchmarks/gpu_case.py, benchmarks/gpu_elsewhere.py (parts of it),"
	@echo "         benchmarks/gpu_torch.py, benchmarks/gpu_larger.py, benchmarks/gpu_traffic.py, benchmarks/gpu_refused.py, benchmarks/gpu_residuals.py, benchmarks/cuda_graph.py (an NVIDIA GPU),"
	@echo "         benchmarks/side_by_side.py, benchmarks/study_table.py (by benchmarks/h200_study.sh: an NVIDIA GPU), benchmarks/weightless.py, benchmarks/referred.py (to carry models),"
	@echo "         benchmarks/h200 (a machine that is lent: CONTRIBUTING.md),"
	@echo "         benchmarks/tf_bert.py (TensorFlow), benchmarks/coverage.py (the coverage tool in ../shared),"
	@echo "         benchmarks/architectures.py, benchmarks/forms.py (the same), benchmarks/zoo_precision.py,"
	@echo "         benchmarks/int8_peers.py, benchmarks/bf16_peers.py, benchmarks/pruned.py (models from burnish export), benchmarks/corpus.py (folders of models that others wrote), benchmarks/one_thread.py (a file of modules)"

bench-quick: bench-aa  ## the figures about measuring itself: docs/figures.md
	$(BIN)/python benchmarks/large_model.py

bench-aa: $(VENV)/.dev  ## what verdicts are worth here: A/A, planted slowdowns, the gate, intervals
	$(BIN)/python benchmarks/intervals.py
	$(BIN)/python benchmarks/aa.py

# where onnxruntime-gpu is, if not beside PyTorch: `make bench-gpu ORT_SITE=/tmp/ortgpu`
ORT_SITE ?= /tmp/ort_site
# what else the table is made with, for instance GPU_OPTIONS="--prepare-s 390"
GPU_OPTIONS ?=

bench-gpu:  ## the whole table on an NVIDIA card, with whatever Python has PyTorch and Triton
	PYTHONPATH=src:$(PYTHONPATH) $(PYTHON) benchmarks/gpu_kernels.py --tune 0 --ort-site $(ORT_SITE) \
	  --modes eager,default,default+channels-last,ort,ort-rewritten \
	  --autotune bert-base:1,bert-base:64,bsrn,conformer:1,nerf-mlp,nafnet:1,vit-s32:1 \
	  --flash bert-base:1,bert-base:64,vit-s32:1,vit-s32:64 $(GPU_OPTIONS)

torture: $(VENV)/.dev  ## attack: planted errors, traps, mutants, kills; docs/torture.md
	$(BIN)/python -m tests.torture

zoo: $(VENV)/.dev  ## every model of the zoo through both exporters: docs/zoo.md
	$(BIN)/python benchmarks/zoo.py

bench-compile: $(VENV)/.dev  ## compiled models against every engine, with the ablation: docs/cpu-figures.md
	$(BIN)/python benchmarks/compile.py --ablation

kernels: $(VENV)/.dev  ## which kernels a change alters, and how their predicted cost moves
	$(BIN)/python benchmarks/kernels.py --zoo out/kernels

bench-whatif: $(VENV)/.dev  ## predicted against measured, over many changes of several models
	$(BIN)/python benchmarks/whatif.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) --editable '.[dev,torch,openvino]'
	touch $@

clean:
	rm -rf $(VENV) $(OUT) build dist
