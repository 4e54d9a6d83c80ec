# All the set-up there is: `make demo` and `make test` install what is missing, build, and run.

# The index for editors takes a fifth of a debug build, but SwiftPM finds no tests without it.
FLAGS = --explicit-target-dependency-import-check error
# One binary that runs where no Swift toolchain is.
RELEASE = $(FLAGS) -c release --static-swift-stdlib
KIT = clients/swift
FORMAT = Package.swift Sources Tests $(KIT)/Package.swift $(KIT)/Sources $(KIT)/Tests $(KIT)/Stubs
# What upgrade-test runs next to this build: its migrations are those of today, docs/decisions/0029-migrations-before-a-release.md.
PREVIOUS ?= 9b623c1b
CASES ?= 1000000
SEED ?= $(shell date +%s)000000

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast browser-test kotlin-test kit-test fuzz lint build deb deb-test image image-test reproduce format bench cost chaos incidents ha-test upgrade-test clean

help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A debug build, which make test uses as well: the optimizer takes most of the time of a first build.
demo: ## a private Postgres, a simulator and a small fleet, live; ARGS="--for 30s" ends it
	@scripts/packages build
	swift build $(FLAGS)
	.build/debug/ridepulse demo $(ARGS)

test: ## install what is missing, build, run all tests; FILTER=Name runs some
	@scripts/packages build test
	@scripts/test-gate "$(FILTER)" $(FLAGS)
	$(if $(FILTER),,$(MAKE) kit-test)

test-fast: ## only what computes: rules, decisions, the engine, random cases; no server
	@scripts/packages build test
	@scripts/test-gate computing $(FLAGS)

browser-test: ## the page in Debian's chromium; RECORD=1 retakes the screenshots of docs
	@scripts/packages build test browser
	RECORD_GOLDEN=$(RECORD) scripts/test-gate BrowserTests $(FLAGS)

kotlin-test: ## the generated Kotlin and the kit of clients/kotlin, by Debian's kotlinc; PAYLOADS=100000 decodes as many
	@scripts/packages build test kotlin
	RIDEPULSE_PAYLOADS=$(PAYLOADS) scripts/test-gate Kotlin $(FLAGS)

kit-test: ## RidePulseKit of clients/swift: its tests, its Apple part against stubs; FILTER=Name runs some
	@scripts/packages build
	swift test --package-path $(KIT) $(FLAGS) -Xswiftc -warnings-as-errors --filter '$(FILTER)'
	$(KIT)/check-apple

fuzz: ## a million random cases of every input; CASES=, SEED= and FILTER=Name choose others
	@scripts/packages build test
	RIDEPULSE_FUZZ_CASES=$(CASES) RIDEPULSE_FUZZ_SEED=$(SEED) swift test $(FLAGS) -c release \
		-Xswiftc -enable-testing --scratch-path .build/fuzz --filter 'FuzzTests.*$(FILTER)'

lint: ## formatting and house rules
	@command -v swift > /dev/null || { echo 'make: no swift on PATH; see https://swift.org/install' >&2; exit 1; }
	swift format lint --strict --recursive $(FORMAT)
	@scripts/check-sources
	@scripts/check-sources-selftest
	@scripts/test-gate-selftest

build: ## release binaries in .build/release
	@scripts/packages build
	RIDEPULSE_COMMIT="$$(scripts/commit short)" swift build $(RELEASE)

deb: build ## a Debian package in .build/deb
	@scripts/packages deb
	@scripts/deb

deb-test: deb ## install it in a fresh Debian, start, purge; as root, some minutes
	@scripts/packages deb-test
	@scripts/test-deb "$$(ls -t .build/deb/ridepulse_*.deb | head -n 1)"

image: build ## OCI archives of ridepulse and of the simulators in .build/image
	@scripts/packages image
	@scripts/image

reproduce: ## build the package and the images twice, in two folders, and compare their bytes; as root
	@scripts/packages deb image
	@scripts/reproduce

image-test: build ## pack the images, run them: migrate, a push, SIGTERM; as root, a minute
	@scripts/packages image-test
	@scripts/test-image

bench: build ## measure against the goals; AGAINST=COMMIT measures that alternately, ARGS="engine --rounds 9"
	@scripts/packages bench
	RIDEPULSE_SCHEDULES=$(CURDIR)/Sources/Cost/Rules .build/release/ridepulse-bench $(ARGS) $(if $(AGAINST),--against "$$( \
	  PRODUCTS='ridepulse ridepulse-bench apns-simulator fcm-simulator' scripts/previous-release $(AGAINST) $(RELEASE))")

cost: ## instructions and allocations per event, compared; AGAINST=COMMIT, RECORD=1, ARGS="decide-alert"
	@scripts/packages build cost
	@scripts/cost $(if $(AGAINST),--against $(AGAINST)) $(if $(RECORD),--record) $(ARGS) -- $(RELEASE)

chaos: build ## kills, pauses, refusals, a full disk, and what held; ARGS="--for 60s --seed 7", DECISIONS=1
	@scripts/packages chaos
	$(if $(DECISIONS),swift build $(FLAGS) --product ridepulse)
	.build/release/ridepulse-chaos $(if $(DECISIONS),--debug-build .build/debug/ridepulse) $(ARGS)

incidents: build ## play what goes wrong in production: what shows it, how soon, does the remedy work; ARGS="--only route"
	@scripts/packages incidents
	nice scripts/incidents/play $(ARGS)

ha-test: build ## kills the primary of a Patroni cluster ten times; ARGS="--replication asynchronous --nodes 1"
	@scripts/packages ha
	.build/release/ridepulse-chaos --failovers 10 $(ARGS)

format: ## format all sources in place
	swift format --in-place --recursive $(FORMAT)

upgrade-test: build ## upgrade from the release PREVIOUS under faults, and back; ARGS="--for 10m --seed N"
	@scripts/packages chaos
	.build/release/ridepulse-chaos --previous "$$(scripts/previous-release $(PREVIOUS) $(RELEASE))" $(ARGS)

clean: ## remove what was built
	rm -rf .build
