# Thin names for what the presets and scripts do; each recipe can be run by hand.
SHELL := bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup build demo test asan bench format install

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 18

setup: ## install what is missing (Debian or Ubuntu packages, a .venv for the tests)
	@scripts/setup

build: setup ## build the library, the program and the tests in build/
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

demo: build ## train on the embedded default problem; results in build/demo
	build/pibinn demo --out build/demo

test: build ## run every test
	scripts/check build

asan: setup ## run every test under the address and undefined-behaviour sanitizers
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS)
	scripts/check build-asan

bench: build ## measure against OpenBLAS, Eigen, PyTorch, onnxruntime, scikit-learn (installed in bench/.venv)
	bench/run

format: ## format the tracked C++ files
	@scripts/setup clang-format
	git ls-files -z '*.cpp' '*.hpp' | xargs -0 -r clang-format -i

install: build ## install to PREFIX (/usr/local)
	cmake --install build --prefix "$(PREFIX)"
