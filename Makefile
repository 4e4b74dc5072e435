# Thin names for what the presets and scripts do; each recipe can be run by hand.
SHELL := bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup build shared demo test asan tsan bench format install

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 18

setup: ## install what is missing (Debian or Ubuntu packages, a .venv for the tests)
	@scripts/setup

build: setup ## build the library, the program and the tests in build/
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

demo: build ## train on the embedded default problem; results in build/demo
	build/pibinn demo --out build/demo

shared: setup ## build the shared library, which other languages load, in build-shared/
	cmake --preset shared
	cmake --build --preset shared --parallel $(JOBS) --target libpibinn.so

test: build shared ## run every test
	scripts/check build

asan: setup ## run every test under the address and undefined-behaviour sanitizers
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS)
	scripts/check build-asan

tsan: setup ## run the tests of the pool, recovering and training under the thread sanitizer
	cmake --preset tsan
	cmake --build --preset tsan --parallel $(JOBS) --target test_core test_infer test_train
	ctest --test-dir build-tsan --output-on-failure --no-tests=error -R '^(core|infer|train)\.' -E c_api

bench: ## measure against OpenBLAS, Eigen, PyTorch, onnxruntime, scikit-learn (installed in bench/.venv)
	bench/run

format: ## format the tracked C++ and C files
	@scripts/setup clang-format
	git ls-files -z '*.cpp' '*.hpp' '*.c' '*.h' | xargs -0 -r clang-format -i

install: build ## install to PREFIX (/usr/local)
	cmake --install build --prefix "$(PREFIX)"
