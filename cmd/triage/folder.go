package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// logsIn lists the logs below a folder, in the order of their names, and counts all its files. Hidden folders and installed packages are left
// out, and so is what is no log by its name or its first bytes: sources, configuration, data, weights. Links are followed to files, not to
// folders, which might go round in a circle.
func logsIn(folder string) (logs []string, all int, err error) {
	err = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != folder && holdsNoLogs(name) {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		all++
		if looksLikeLog(name) {
			logs = append(logs, name)
		}
		return nil
	})
	return logs, all, err
}

// holdsNoLogs tells of a folder within another whether it is hidden, or has what was installed or made by a program.
func holdsNoLogs(folder string) bool {
	name := filepath.Base(folder)
	if strings.HasPrefix(name, ".") || slices.Contains([]string{"site-packages", "dist-packages", "node_modules", "__pycache__"}, name) {
		return true
	}
	for _, sign := range []string{"pyvenv.cfg", "conda-meta"} { // an environment, whatever its name
		if _, err := os.Stat(filepath.Join(folder, sign)); err == nil {
			return true
		}
	}
	return false
}

// noLogs are the endings of files that are no logs: sources, configuration, documents, pictures, data and weights.
var noLogs = regexp.MustCompile(`(?i)\.(?:py[cdiwx]?|c|cc|cpp|cu|cuh|cxx|h|hpp|java|js|jsx|ts|tsx|go|rs|rb|sh|bash|zsh|bat|ps1|pl|lua|r|jl|scala|kt|swift|m|` +
	`ya?ml|toml|ini|cfg|conf|env|lock|properties|xml|html?|css|scss|svg|md|rst|tex|bib|pdf|docx?|xlsx?|pptx?|csv|tsv|parquet|arrow|feather|sqlite3?|db|` +
	`png|jpe?g|gif|bmp|webp|tiff?|mp[34]|wav|flac|ogg|avi|mov|mkv|ttf|otf|woff2?|` +
	`pt|pth|ckpt|bin|safetensors|gguf|onnx|pb|h5|hdf5|np[yz]|mat|tfrecord|model|vocab|spm|idx|whl|egg|so|dll|dylib|a|o|exe|jar|class|diff|patch|j2|jinja|ipynb)$`)

// headOfFile is how many bytes of a file tell whether it is text.
const headOfFile = 4096

// looksLikeLog tells whether a file that nobody named may be a log.
func looksLikeLog(name string) bool {
	base := filepath.Base(name)
	if strings.HasPrefix(base, ".") || noLogs.MatchString(base) {
		return false
	}
	file, err := os.Open(name)
	if err != nil {
		return true // that it cannot be read is said when it is
	}
	defer file.Close()
	head, _ := io.ReadAll(io.LimitReader(file, headOfFile))
	if strings.EqualFold(filepath.Ext(base), ".json") {
		return bytes.Contains(head, []byte("}\n{")) || bytes.Contains(head, []byte(`"schema": "triage.`))
	}
	return isPacked(head) || bytes.IndexByte(head, 0) < 0
}

// packed are the first bytes of archives, of compressed files, and of the dumps of NCCL's flight recorder.
var packed = [][]byte{{0x1f, 0x8b}, {0x28, 0xb5, 0x2f, 0xfd}, []byte("PK\x03\x04"), {0x80, 2}, {0x80, 3}, {0x80, 4}, {0x80, 5}}

func isPacked(head []byte) bool {
	const magic = 257 // where a tar has its name
	isTar := len(head) > magic+5 && string(head[magic:magic+5]) == "ustar"
	return isTar || slices.ContainsFunc(packed, func(begin []byte) bool { return bytes.HasPrefix(head, begin) })
}
