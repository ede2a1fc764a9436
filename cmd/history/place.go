package main

import (
	"path"
	"slices"
	"strings"
)

// place is where a file stands among Python's modules.
type place struct {
	module    string // "" when it is none
	isPackage bool
	stub      bool
	native    bool
	skipped   bool // it is there, but nobody asks for its names
}

// skippedFolders hold what no training code imports: tests, examples, and copies of other projects.
var skippedFolders = []string{"tests", "test", "examples", "_vendor", "vendor", "thirdparty_files", "third_party", "node_modules"}

// notPackages are folders that archives carry along beside their packages.
var notPackages = []string{"tests", "test", "docs", "doc", "examples", "example", "benchmarks", "tools", "scripts", "build", "ci", "setup", "conftest", "site-packages", "bin"}

func placeOf(file string, roots []string) place {
	parts := strings.Split(file, "/")
	base := parts[len(parts)-1]
	stem, extension, _ := strings.Cut(base, ".")
	p := place{stub: extension == "pyi"}
	switch path.Ext(base) {
	case ".so", ".pyd", ".pyx":
		p.native = true
	case ".py", ".pyi":
	default:
		return place{}
	}
	p.isPackage = stem == "__init__"
	parts[len(parts)-1] = stem
	if p.isPackage {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 || strings.HasSuffix(parts[0], ".data") || !inRoots(parts[0], roots) {
		return place{}
	}
	for _, root := range roots {
		if left, out := strings.CutPrefix(root, "-"); out && strings.HasPrefix(strings.Join(parts, ".")+".", left+".") {
			p.module, p.skipped = left, true
			return p
		}
	}
	for i, part := range parts {
		if strings.ContainsAny(part, "-. ") {
			return place{}
		}
		if folder := i+1 < len(parts) || p.isPackage; folder && slices.Contains(skippedFolders, part) && i > 0 {
			p.module, p.skipped = strings.Join(parts[:i+1], "."), true
			return p
		}
	}
	p.module = strings.Join(parts, ".")
	return p
}

func inRoots(root string, roots []string) bool {
	if len(roots) > 0 {
		return slices.Contains(roots, root)
	}
	return !slices.Contains(notPackages, root) && root != "__pycache__"
}
