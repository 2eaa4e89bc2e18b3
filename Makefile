# Every target has one line of help after ##; `make` prints them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build hub package demo test deps lint generate lineup bench bisects

VERSION ?= $(shell git describe --always --dirty --tags 2>/dev/null || echo unknown)
# The scenario of `make demo`, and what else to give to the lineup.
DEMO ?= clock-raw-c
LINEUP_FLAGS ?=
TEST_FLAGS ?=
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ERRCHECK := github.com/kisielk/errcheck@v1.20.0

help: ## print this help
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## make bin/culprit, one static binary
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/culprit ./cmd/culprit

package: build ## make bin/culprit_VERSION_ARCH.deb, with the unit of the agent
	@packaging/package '$(VERSION)' bin

hub: ## make bin/culprit-hub, a module of its own: DuckDB needs cgo
	@mkdir -p bin
	cd cmd/culprit-hub && go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o ../../bin/culprit-hub .

demo: build ## investigate a planted regression; exits 0 when the verdict is the planted one
	go run ./lineup -run '^$(DEMO)$$' -prove auto -show -out lineup/out/demo

deps: ## install the Debian packages that the tests need and that are missing (root), DuckDB for the guide's queries, axe-core for the pages
	@bash .ci/packages
	@bash .ci/python
	@bash .ci/axe

test: deps ## install what is missing, run all tests, and vet (root: probes load BPF programs)
	bash .ci/test $(TEST_FLAGS)

lint: ## gofmt, vet, staticcheck, errcheck and the house rules
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
		if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w):"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	go run $(ERRCHECK) -ignoretests -exclude .ci/errcheck ./...
	go test -count=1 ./internal/tidy

generate: ## rebuild the BPF objects (clang-19) and the report's page (npm)
	go generate ./...
	cd web && npm ci --no-audit --no-fund && npm run build

lineup: build ## run all scenarios with a known culprit and print the scoreboard
	go run ./lineup $(LINEUP_FLAGS)

bench: build ## measure what culprit itself costs
	go run ./benchmark
	go run ./benchmark/format -size 128 -rounds 3

bisects: build ## search repositories with a planted regression: right, decisions, time (long)
	go run ./benchmark/bisect -rounds 20 -noise 0.03
