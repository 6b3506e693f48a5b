# Two commands do everything on a fresh machine with a Swift toolchain: `make demo` and `make test`.
SHELL := /bin/bash
# The program and its tests use the same configuration, so that no module is built twice.
SWIFT_FLAGS := -c release
BIN := .build/release/tandem
ARGS ?=
PIPELINE ?= pipelines/pk-landscape.json

.DEFAULT_GOAL := help
.PHONY: help deps build test test-fast demo run publish play lint format golden load-test bench bench-quick bench-live bench-search bench-plants docs api-test cluster-test cluster-test-k8s test-kubernetes test-metrics test-front asan tsan fuzz proofs package package-test sbom resolved clean

help: ## Print this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the system packages that are missing (apt as root or with sudo; else prints what to install)
	@command -v swift > /dev/null || { echo "Building needs a Swift toolchain, 6.2 or later. Use one of:" >&2; \
	    echo "  toolchain  https://www.swift.org/install/linux, then the same command again" >&2; \
	    echo "  package    on Debian 12: apt-get install ./tandem_*_amd64.deb" >&2; \
	    echo "  tarball    on other Linux with glibc 2.36 or later (x86-64): tar -xzf tandem-*-linux-x86_64.tar.gz" >&2; \
	    echo "  image      the build stage includes the toolchain: docker build -t tandem ." >&2; \
	    echo "\`make package\` on a machine with a toolchain makes package and tarball: Sources/tandem/Documentation.docc/Install.md" >&2; \
	    exit 1; }
	@.ci/deps

# SwiftPM builds ready targets in order of their names. It would build 400 C files before the small ones that SwiftNIO, and with
# it nearly everything else, depends on, and leave the second core idle at the end. So these two targets are built first.
FIRST := CNIOAtomics CAsyncHTTPClient
# Only in a fresh tree: later, each of these commands would cost the time of a build without work.
BUILD_FIRST = [ -x $(BIN) ] || for target in $(FIRST); do swift build $(SWIFT_FLAGS) --target $$target || exit; done

# The commit that `tandem --version` prints in brackets; the file is written only if it changes.
COMMIT_FILE := Sources/CVersion/commit.h
WRITE_COMMIT = commit=$$(git describe --always --dirty --exclude '*' 2>/dev/null); line="\#define TANDEM_COMMIT \"$$commit\""; \
	[ "$$(cat $(COMMIT_FILE) 2>/dev/null)" = "$$line" ] || { echo "$$line" > $(COMMIT_FILE); touch Sources/CVersion/version.c; }

build: deps ## Build the program: .build/release/tandem
	@$(WRITE_COMMIT)
	@$(BUILD_FIRST)
	swift build $(SWIFT_FLAGS) --product tandem

test: deps ## Run all tests, including end-to-end tests with a real ffmpeg
	@$(WRITE_COMMIT)
	@$(BUILD_FIRST)
	swift build $(SWIFT_FLAGS) --build-tests
	.ci/tests

test-fast: ## Run only the tests of the core modules, without rooms; a few of them run ffmpeg
	swift test $(SWIFT_FLAGS) --filter 'MediaKernelsTests|MediaTypesTests|ThreadingTests|LibAVTests|RTMPTests|HLSTests|PipelineSpecTests|ProgramTests|EncodingTests|ArchitectureTests'

demo: build ## Run a PK room with two RTMP publishers, HLS and a viewer page (ARGS="--duration 60")
	$(BIN) demo $(ARGS)

run: build ## Run a room: make run PIPELINE=pipelines/pk-landscape.json
	$(BIN) run $(PIPELINE) $(ARGS)

publish: build ## Publish two test patterns to a room on port 1935 with the keys of pk-landscape.json
	$(BIN) publish pattern:ANNA rtmp://127.0.0.1:1935/live/a_7fd1 & $(BIN) publish pattern:BEN rtmp://127.0.0.1:1935/live/b_19c4; wait

play: ## Play the demo's stream with ffplay
	ffplay -loglevel warning tandem-demo/index.m3u8

lint: ## Check the format of every Swift file
	swift format lint --strict --recursive --parallel Package.swift Sources Tests benchmarks/Package.swift benchmarks/Sources

format: ## Rewrite every Swift file in the project's format
	swift format --in-place --recursive --parallel Package.swift Sources Tests benchmarks/Package.swift benchmarks/Sources

golden: ## Write the golden files and the JSON schema anew from the current output
	UPDATE_GOLDEN=1 swift test $(SWIFT_FLAGS)

load-test: deps ## Test a room with many viewers: 1,000 waiting, 2,000 that read one byte per second, 5,000 requests per second
	swift build $(SWIFT_FLAGS) --build-tests
	TANDEM_LOAD=full swift test $(SWIFT_FLAGS) --skip-build --filter LoadTests

api-test: deps ## Test the control API: 2,000 requests per second for 30 s, and 5,000 cases by schemathesis (pip install schemathesis)
	swift build $(SWIFT_FLAGS) --build-tests
	TANDEM_CONTROL_SECONDS=30 swift test $(SWIFT_FLAGS) --skip-build --filter ConsoleTests/api
	.ci/api-test

bench: deps build ## Run all benchmarks: R1 (the reference PK job) in Tandem and other programs, live rooms, hot loops (45 minutes)
	benchmarks/run.sh full

bench-quick: deps build ## Run the short benchmarks and check CI's thresholds
	benchmarks/run.sh quick

bench-live: deps build ## Measure live rooms: number of PK rooms without late frames, latency, memory, startup (LIVE_MINUTES=30)
	benchmarks/run.sh live

bench-search: deps build ## Search x264 settings over clips: CPU time against VMAF-NEG and SSIM at equal size
	benchmarks/run.sh search

bench-plants: deps ## Test the guard with patches that make the program slower or leak (benchmarks/plants; half an hour)
	benchmarks/plants.sh $(ARGS)

docs: build ## Build the guides and the library documentation as DocC archives in .build/docs; fails on unresolved links
	.ci/docs

cluster-test: build ## Test rooms on a Docker Swarm of three network namespaces: scheduling by cost, failover (root; 5 minutes)
	.ci/cluster-test

cluster-test-k8s: build ## Test scheduling, failover, drains and upgrades on Kubernetes; the first run builds it (root; 10 minutes)
	.ci/cluster-test-k8s

test-kubernetes: ## Render deploy/kubernetes with Kustomize and validate it for Kubernetes 1.29 to 1.37 (needs a Debian mirror and PyPI once)
	.ci/test-kubernetes

test-metrics: build ## Run all rules and the queries of all dashboards against a live room and Prometheus
	.ci/metrics-test

test-front: build ## Test rooms through HAProxy, nginx and Varnish: 100,000 requests each, kills, a drain, players (root; long)
	.ci/front-test $(ARGS)

proofs: deps ## Run all cases of the tests of which `make test` runs a part (2 minutes)
	swift build $(SWIFT_FLAGS) --build-tests
	TANDEM_PROOFS=full swift test $(SWIFT_FLAGS) --skip-build --filter 'ListedNameTests|RepairTests|PipelinePropertyTests|RTMPChunkModelTests'

asan: deps ## Run all single-process tests and a live room under AddressSanitizer (long build, into .build-asan)
	.ci/asan

tsan: deps ## Run all single-process tests and a live room under ThreadSanitizer (long build, into .build-tsan)
	.ci/tsan

fuzz: ## Fuzz all parsers of untrusted bytes with libFuzzer and AddressSanitizer (FUZZ_SECONDS=60 each; FUZZ_ONLY=session)
	.ci/fuzz-build
	.ci/fuzz

# TANDEM_BINARY=FILE packs a program that exists instead of building one.
package: $(if $(TANDEM_BINARY),,build) ## Build a .deb and a tarball with FFmpeg in .build/packages, and the image in podman's store (with podman, as root)
	@command -v patchelf > /dev/null || { [ "$$(id -u)" = 0 ] && apt-get install -y -qq patchelf > /dev/null; }
	TANDEM_BINARY=$(TANDEM_BINARY) deploy/package/build
	@if command -v podman > /dev/null && [ "$$(id -u)" = 0 ]; then deploy/image tandem $(TANDEM_BINARY); \
	    else echo "No image was built, because that needs podman and root. Run \`docker build -t tandem .\` instead."; fi

package-test: ## Install the packages of `make package` into minimal Debian 12 and 13 systems and run rooms there (root)
	.ci/package-test

sbom: build ## Write a software bill of materials (CycloneDX) to .build/sbom.cdx.json
	.ci/sbom

resolved: ## Write Package.resolved and compare the versions of the Swift packages with the tested ones
	.ci/resolved

clean: ## Remove build products and the demo's files
	rm -rf .build .build-asan .build-tsan .build-fuzz .build-plants benchmarks/.build benchmarks/work tandem-demo
