# Thin names for what the presets and scripts do; each recipe can be run by hand.
SHELL := bash
JOBS ?= $(shell nproc)
MINUTES ?= 11
CASES ?= 0
PREFIX ?= /usr/local
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup program build build-mpi demo test asan tsan clang fuzz faults aarch64 deepinv bench pibinn-bench reproduce format install

help: ## list the targets
	@sed -nE 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 18

setup: ## install what is missing (Debian or Ubuntu packages, a .venv for the tests)
	@scripts/setup test

program: ## build the program alone, build/pibinn
	@scripts/setup program
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target pibinn_program pibinn_modules

build-mpi: ## build the program for many machines: build/pibinn and build/libpibinn_mpi.so
	@scripts/setup program libopenmpi-dev openmpi-bin
	cmake --preset release -DPIBINN_MPI=ON
	cmake --build --preset release --parallel $(JOBS) --target pibinn_program pibinn_modules

demo: program ## train a tied network on a noisy problem of signs; results in build/demo
	build/pibinn demo --out build/demo

build: setup ## build the libraries, the program, the benchmark and the tests in build/
	cmake --preset release -DPIBINN_MPI=AUTO
	cmake --build --preset release --parallel $(JOBS)

test: build ## run every test
	scripts/check build

asan: setup ## run every test under the address and undefined-behaviour sanitizers
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS)
	scripts/check build-asan

tsan: setup ## run the tests of the pool, recovering and training under the thread sanitizer
	cmake --preset tsan
	cmake --build --preset tsan --parallel $(JOBS) --target test_core test_infer test_train
	ctest --test-dir build-tsan --parallel $(JOBS) --output-on-failure --no-tests=error -R '^(core|infer|train)\.' \
	    -E 'c_api|/(tile_)?(SSE4|SSSE3|SCALAR)'

pibinn-bench: setup
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target pibinn-bench pibinn_program pibinn_shared

clang: ## build with clang and run the tests of the kernels
	@scripts/setup test clang
	cmake --preset clang
	cmake --build --preset clang --parallel $(JOBS) --target test_algebra test_infer
	ctest --test-dir build-clang --output-on-failure --no-tests=error -R '^(algebra|infer)\.' -E c_api

fuzz: ## try hostile files on every reader (MINUTES=11, READERS="npy csv", JOBS=2)
	@scripts/setup program clang libclang-rt-dev
	cmake --preset fuzz
	cmake --build --preset fuzz --parallel $(JOBS) --target fuzzers
	fuzz/run --minutes $(MINUTES) --jobs $(JOBS) --cases $(CASES) $(READERS)

faults: program ## kill, fill disks, take permissions away, run two at once; see docs/reliability.md
	@scripts/setup test
	.venv/bin/python tests/faults

aarch64: ## build for 64-bit ARM and run the tests of the kernels under qemu
	@scripts/setup-aarch64
	cmake --preset aarch64
	cmake --build --preset aarch64 --parallel $(JOBS) --target test_infer
	ctest --test-dir build-aarch64 --output-on-failure --no-tests=error -R '^infer\.' -E c_api

deepinv: setup ## test the bridges to PyTorch and deepinv (gigabytes of both, in build/deepinv-venv)
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target pibinn
	scripts/check-deepinv build

reproduce: program ## make the paper's tables, figures and claims again; results in build/reproduce
	build/pibinn reproduce $(if $(IMAGES),--images $(IMAGES)) $(if $(EEG),--eeg $(EEG)) --out build/reproduce

bench: ## measure against OpenBLAS, Eigen, PyTorch, onnxruntime, scikit-learn (installed in bench/.venv)
	bench/run

format: ## format the tracked C++ and C files
	@scripts/setup program clang-format
	git ls-files -z '*.cpp' '*.hpp' '*.c' '*.h' '*.cu' '*.cuh' | xargs -0 -r clang-format -i

install: program ## install libraries, headers and program to PREFIX (/usr/local)
	cmake --build --preset release --parallel $(JOBS) --target pibinn_shared
	cmake --install build --prefix "$(PREFIX)"
