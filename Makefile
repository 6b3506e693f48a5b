# Two commands do everything on a fresh machine with a Swift toolchain: `make demo` and `make test`.
SHELL := /bin/bash
# One configuration serves the program and its tests, so that nothing is built twice.
SWIFT_FLAGS := -c release
BIN := .build/release/tandem
ARGS ?=
PIPELINE ?= pipelines/pk-landscape.json

.DEFAULT_GOAL := help
.PHONY: help deps build test test-fast demo run publish play lint format golden load-test bench bench-quick bench-live bench-search docs api-test cluster-test cluster-test-k8s asan tsan fuzz package package-test sbom resolved clean

help: ## This list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the system packages that are missing (apt; else prints the one line to run)
	@command -v swift > /dev/null || { echo "Building needs a Swift toolchain, 6.2 or later: https://www.swift.org/install/linux" >&2; \
	    echo "Without one, install a package that somebody built with \`make package\`: the .deb on Debian 12, the tarball elsewhere," >&2; \
	    echo "or build the image, which brings the toolchain along: docker build -t tandem ." >&2; exit 1; }
	@.ci/deps

# What is ready to be built is taken by name, so that 400 C files would come before the small one that SwiftNIO, and with it
# nearly everything else, waits for, and leave a second core without work at the end. These two come first.
FIRST := CNIOAtomics CAsyncHTTPClient
# Only where nothing is built yet: afterwards each would cost the time of a build that has nothing to do.
BUILD_FIRST = [ -x $(BIN) ] || for target in $(FIRST); do swift build $(SWIFT_FLAGS) --target $$target || exit; done

# What `tandem --version` says in brackets; written only when it has changed.
COMMIT_FILE := Sources/CVersion/commit.h
WRITE_COMMIT = commit=$$(git describe --always --dirty --exclude '*' 2>/dev/null); line="\#define TANDEM_COMMIT \"$$commit\""; \
	[ "$$(cat $(COMMIT_FILE) 2>/dev/null)" = "$$line" ] || echo "$$line" > $(COMMIT_FILE)

build: deps ## Build the program: .build/release/tandem
	@$(WRITE_COMMIT)
	@$(BUILD_FIRST)
	swift build $(SWIFT_FLAGS) --product tandem

test: deps ## Run all tests, end to end ones with real ffmpeg included
	@$(WRITE_COMMIT)
	@$(BUILD_FIRST)
	swift build $(SWIFT_FLAGS) --build-tests
	.ci/tests

test-fast: ## Only the pure cores: no ffmpeg, no sockets
	swift test $(SWIFT_FLAGS) --filter 'MediaKernelsTests|MediaTypesTests|StagesTests|LibAVTests|RTMPTests|HLSTests|PipelineSpecTests|ProgramTests|LadderTests|ArchitectureTests'

demo: build ## A PK room with two real RTMP publishers, HLS and a page to watch (ARGS="--duration 60")
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

golden: ## Accept what the tests produce as the new golden files and schema
	UPDATE_GOLDEN=1 swift test $(SWIFT_FLAGS)

load-test: deps ## Viewers by the thousand against a room: 1,000 waiting, 2,000 at a byte a second, 5,000 requests a second
	swift build $(SWIFT_FLAGS) --build-tests
	TANDEM_LOAD=full swift test $(SWIFT_FLAGS) --skip-build --filter LoadTests

api-test: deps ## The control API: 2,000 requests a second for 30 s, and 5,000 cases by schemathesis (pip install schemathesis)
	swift build $(SWIFT_FLAGS) --build-tests
	TANDEM_CONTROL_SECONDS=30 swift test $(SWIFT_FLAGS) --skip-build --filter ConsoleTests/api
	.ci/api-test

bench: deps build ## R1 beside its peers and the bare codecs, live rooms, hot loops (a quarter of an hour); results in benchmarks/results
	benchmarks/run.sh full

bench-quick: deps build ## The same, short (at most 5 minutes), with the thresholds CI holds
	benchmarks/run.sh quick

bench-live: deps build ## PK rooms in real time until a frame is late, latency, memory, start (LIVE_MINUTES=30)
	benchmarks/run.sh live

bench-search: deps build ## x264 settings over clips: CPU against VMAF-NEG and SSIM at equal size
	benchmarks/run.sh search

docs: build ## The guides and the pages of the library targets as DocC archives, into .build/docs; fails where a page names what there is not
	.ci/docs

cluster-test: build ## Rooms on a Docker Swarm of three network namespaces: placed by cost, moved when a machine is lost (root; 5 minutes)
	.ci/cluster-test

cluster-test-k8s: build ## The same on a Kubernetes of three network namespaces, built once from Debian's source package (root; 10 minutes and more the first time)
	.ci/cluster-test-k8s

asan: deps ## All tests of one process and a live room under AddressSanitizer (builds for minutes, into .build-asan)
	.ci/asan

tsan: deps ## The same under ThreadSanitizer (into .build-tsan)
	.ci/tsan

fuzz: ## libFuzzer with AddressSanitizer on everything that reads foreign bytes (FUZZ_SECONDS=60 each; FUZZ_ONLY=session)
	.ci/fuzz-build
	.ci/fuzz

package: build ## The program to install: a .deb, a tarball that brings FFmpeg, and (with podman, as root) the image; into .build/packages
	@command -v patchelf > /dev/null || { [ "$$(id -u)" = 0 ] && apt-get install -y -qq patchelf > /dev/null; }
	deploy/package/build
	@if command -v podman > /dev/null && [ "$$(id -u)" = 0 ]; then deploy/image tandem; \
	    else echo "No image was built: that needs podman and root, or \`docker build -t tandem .\`"; fi

package-test: package ## Installs the packages into bare roots of Debian 12 and 13 and runs a PK there (root; 5 minutes)
	.ci/package-test

sbom: build ## A bill of materials of the program (CycloneDX), .build/sbom.cdx.json
	.ci/sbom

resolved: ## Write Package.resolved and compare the versions of the Swift packages with those that were tested
	.ci/resolved

clean: ## Remove build products and what the demo wrote
	rm -rf .build .build-asan .build-tsan .build-fuzz benchmarks/.build benchmarks/work tandem-demo
