# The page that diagnoses logs in the browser: make playground [FOLDER=site]
FOLDER ?= site

.PHONY: playground
playground:
	go run ./cmd/playground $(FOLDER)
