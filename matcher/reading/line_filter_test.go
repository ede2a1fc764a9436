package reading_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/example"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/logline/loglinetest"
	"github.com/gpu-triage/triage/matcher/matchertest"
	"github.com/gpu-triage/triage/matcher/repair"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/matcher/scan/corpus"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
)

const (
	valueError = matchertest.ValueError
	step       = matchertest.Step
)

var prefixed = matchertest.Prefixed

// isDamaged tells whether a log is repaired before it is read.
func isDamaged(log []byte) bool {
	head, _, err := logline.Decode(bytes.NewReader(log))
	return err == nil && !repair.Of(head).None()
}

// judged compares what a reading makes of logs with what one makes of them that takes in every line, as it stands: what is damaged is left
// out. One that is judged as a whole is compared with the reading of its file in one go.
func judged(t *testing.T, engine *matcher.Engine, logs ...[]byte) {
	t.Helper()
	judgedIn(t, engine, func(int) bool { return true }, logs...)
}

// judgedIn is judged in some of the ways to read, by their numbers.
func judgedIn(t *testing.T, engine *matcher.Engine, taken func(way int) bool, logs ...[]byte) {
	t.Helper()
	whole := len(logs) == 1 && isJudgedWhole(t, engine, logs[0])
	logs = slices.DeleteFunc(slices.Clone(logs), func(log []byte) bool { return isDamaged(log) || !whole && isJudgedWhole(t, engine, log) })
	plain := engine.Begin()
	takeIn := plain.ReadPlain
	if whole {
		takeIn = func(name string, from io.Reader) error { return plain.Read(context.Background(), name, from) }
	}
	for i, log := range logs {
		if err := takeIn(fmt.Sprint(i, ".log"), bytes.NewReader(log)); err != nil {
			t.Fatal(err)
		}
	}
	want, wantOrigin := plain.Report(), plain.Origin()
	dir := t.TempDir()
	ways := map[string]func(*matcher.Job, string, []byte) error{
		"pipe": func(r *matcher.Job, name string, log []byte) error {
			return r.Read(context.Background(), name, bytes.NewReader(log))
		},
		"piece by piece": func(r *matcher.Job, name string, log []byte) error {
			return r.ReadSo(context.Background(), name, iotest.HalfReader(io.MultiReader(bytes.NewReader(log[:len(log)/3]), bytes.NewReader(log[len(log)/3:]))), scan.Reading{Eager: true})
		},
		"pipe, many workers": func(r *matcher.Job, name string, log []byte) error {
			return r.ReadSo(context.Background(), name, bytes.NewReader(log), scan.Reading{Workers: 3, Block: 5 << 10})
		},
		"growing": func(r *matcher.Job, name string, log []byte) error {
			tail, piece := r.Tail(name), 64<<10 // the form of a log is told from its first bytes
			for len(log) > 0 {
				n := min(len(log), piece)
				tail.Write(log[:n])
				log, piece = log[n:], 1+(piece*7919)%4099
			}
			tail.Close()
			return nil
		},
	}
	for way, how := range map[string]scan.Reading{"file": {Workers: 2}, "file, one worker": {Workers: 1, Block: 4 << 10}, "file, many workers": {Workers: 4, Block: 12 << 10}} {
		ways[way] = func(r *matcher.Job, name string, log []byte) error {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, log, 0o600); err != nil {
				return err
			}
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			return r.ReadSo(context.Background(), name, file, how)
		}
	}
	if whole {
		delete(ways, "growing") // it is never there as a whole
	}
	for number, way := range slices.Sorted(maps.Keys(ways)) {
		if !taken(number) {
			continue
		}
		read, reading := ways[way], engine.Begin()
		for i, log := range logs {
			if err := read(reading, fmt.Sprint(i, ".log"), log); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, reading.Report()); diff != "" {
			t.Fatalf("%s:\n%s", way, diff)
		}
		sameValue := cmp.Comparer(func(a, b condition.Value) bool { return reflect.DeepEqual(a.JSON(), b.JSON()) })
		if diff := cmp.Diff(wantOrigin, reading.Origin(), sameValue); diff != "" {
			t.Fatalf("%s:\n%s", way, diff)
		}
	}
}

// isJudgedWhole tells whether an answer is about a text as a whole, which the plain reading, by lines, does not look at: the text is of another
// kind than a log, or somebody wrote it with what was printed in it.
func isJudgedWhole(t *testing.T, engine *matcher.Engine, log []byte) bool {
	t.Helper()
	job := engine.Begin()
	if err := job.Read(context.Background(), "0.log", bytes.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	return len(job.Result().NoLogs) > 0 || logline.Sniff("0.log", log).IsPost()
}

// known is the engine with all that is shipped, and the logs that it is tested with.
func known(t testing.TB) (*matcher.Engine, [][]byte) {
	t.Helper()
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	var logs [][]byte
	examples, err := example.Load(base, base.Signatures(), os.DirFS("../../testdata/logs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range examples {
		for _, log := range example.Logs() {
			if !bytes.HasPrefix(log, []byte{0x80}) { // a dump of NCCL's flight recorder is no text
				logs = append(logs, log)
			}
		}
	}
	return matcher.New(base), logs
}

// filler is n lines in which nothing happens.
func filler(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%s%d tokens of shard %d\n", []string{"", "[rank3]: ", "[default1]:", "2026-11-19 03:00:00 INFO "}[rnd.IntN(4)], rnd.IntN(1e6), rnd.IntN(99))
	}
	return b.String()
}

// inDocker is a log as Docker's json-file driver keeps it.
func inDocker(log string) string {
	var b strings.Builder
	to := json.NewEncoder(&b)
	for line := range strings.Lines(log) {
		entry := struct {
			Log    string    `json:"log"`
			Stream string    `json:"stream"`
			Time   time.Time `json:"time"`
		}{line, "stderr", time.Date(2026, 11, 19, 3, 0, 0, b.Len()*1000, time.UTC)}
		if err := to.Encode(entry); err != nil {
			panic(err)
		}
	}
	return b.String()
}

// mixed makes a log of parts of others: in a row, interleaved as ranks, far behind the first lines, with progress in between.
func mixed(rnd *rand.Rand, logs [][]byte) []byte {
	var log strings.Builder
	log.WriteString(filler(rnd, []int{0, 3, 4990, 5200, 9000}[rnd.IntN(5)]))
	for range 1 + rnd.IntN(6) {
		part := string(logs[rnd.IntN(len(logs))])
		switch rnd.IntN(8) {
		case 0:
			log.WriteString(part)
		case 1:
			other := strings.SplitAfter(string(logs[rnd.IntN(len(logs))]), "\n")
			for i, line := range strings.SplitAfter(part, "\n") {
				if log.WriteString("[rank1]: " + line); i < len(other) {
					log.WriteString("[rank2]: " + other[i])
				}
			}
		case 2:
			lines := strings.SplitAfter(part, "\n")
			log.WriteString(strings.Join(lines[rnd.IntN(len(lines)):], ""))
		case 3:
			log.WriteString(strings.ReplaceAll(part, "Error", "\x1b[31mErr\x1b[0mor"))
		case 4:
			log.WriteString(strings.ReplaceAll(part, "\n", []string{"\r\n", "\r", "\n\n", "\x00\n"}[rnd.IntN(4)]))
		case 5:
			log.WriteString(strings.Repeat(step, rnd.IntN(40)))
			log.WriteString(prefixed(rnd.IntN(4), strings.Repeat(step, rnd.IntN(3))))
		case 6:
			for line := range strings.Lines(part) {
				for range 1 + rnd.IntN(4) {
					log.WriteString(loglinetest.Renumbered(rnd, line))
				}
			}
		case 7:
			log.WriteString(inDocker(part))
		}
		log.WriteString(filler(rnd, []int{0, 1, 70, 300, 6000}[rnd.IntN(5)]))
		if rnd.IntN(8) == 0 {
			log.WriteString(strings.Repeat("0123456789 ", 10_000*(1+rnd.IntN(4))) + "CUDA out of memory\r\n")
		}
	}
	log.WriteString([]string{"", "Killed", "Killed\n" + filler(rnd, rnd.IntN(40)), "[rank1]: Killed\r\nAborted\n" + step}[rnd.IntN(4)])
	return []byte(log.String())
}

// waysApart is how many ways to read a log stand between two of those in which it is judged: of the thousands of logs all ways are for some.
const waysApart = 3

// oneOf is of how many logs one is judged: the others are like it, and each takes as long as a hundred readings.
const oneOf = 8

// eachJudged judges one log after the other, in as many shares at a time as the machine has processors.
func eachJudged(t *testing.T, engine *matcher.Engine, logs [][]byte) {
	const shares = 16
	for share := range shares {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			t.Parallel()
			for i := share * oneOf; i < len(logs); i += shares * oneOf {
				if !testing.Short() || i%60 == 0 {
					judgedIn(t, engine, func(way int) bool { return (way+i/shares)%waysApart == 0 }, logs[i])
				}
			}
		})
	}
}

// TestReadEverything: whatever is left out while a log is read, the answer is as if every line had been taken in.
func TestReadEverything(t *testing.T) {
	engine, logs := known(t)
	t.Run("each log", func(t *testing.T) { eachJudged(t, engine, logs) })
	var ordinary bytes.Buffer
	size := int64(4_000_000)
	if testing.Short() {
		size /= 8
	}
	if err := corpus.Write(&ordinary, size, corpus.Ordinary, 3); err != nil {
		t.Fatal(err)
	}
	judged(t, engine, ordinary.Bytes(), logs[0], nil, logs[1])
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, lines := range []int{0, 5200} { // the first line after a failure is the only one that shows progress
		judged(t, matchertest.Story(t), []byte(filler(rnd, lines)+valueError+step), []byte(filler(rnd, lines)+prefixed(1, valueError+step)))
	}
	seeds := uint64(12)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(seed, 5))
		e := engine
		if seed%2 == 0 {
			e = matchertest.Story(t)
		}
		judged(t, e, mixed(rnd, logs), mixed(rnd, logs))
	}
}

// eventSignature is a file with a signature.
func eventSignature(id, role, rest string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(fmt.Sprintf("id: %[1]s\ntitle: %[1]s\nrole: %[2]s\n%[3]s\ncause: x\nfixes: [{do: x}]\nreferences: [x]\n", id, role, rest))}
}

// TestReadNumbers: lines that differ only in numbers are told apart where rules tell them apart, far behind the first lines.
func TestReadNumbers(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{
		"facts.yaml":  {Data: []byte("facts: [{name: torch, type: version}]\n")},
		"code.yaml":   eventSignature("code", "cause", "keywords: [\"failed with code\"]\nmatch: ['text matches `failed with code 7\\d\\b`']"),
		"word.yaml":   eventSignature("word", "cause", "keywords: [\"Error 802: \"]\nmatch: ['text contains \"Error 802: \"']"),
		"second.yaml": eventSignature("second", "cause", "keywords: [\"kernel launch\"]\nmatch: ['text matches `kernel launch failed`', 'seen(`the (?:second|third) clue of \\d*7\\b`)']"),
		"zero.yaml":   eventSignature("zero", "noise", "keywords: [\"errors\"]\nmatch: ['text matches ` 0 errors`']"),
	})
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	rnd := rand.New(rand.NewPCG(9, 9))
	lines := []string{"job 1 failed with code 12", "job 2 failed with code 71", "job 3 failed with code 71, 0 errors", "job 3 failed with code 78, 4 errors", "kernel launch refused, Error 801: no",
		"kernel launch refused, Error 802: no", "kernel launch failed", "the second clue of 3", "the second clue of 7", "the third clue of 5", "the fourth clue"}
	said := map[string]bool{}
	for range 10 {
		log := filler(rnd, 5100)
		for range 30 {
			log += prefixed(rnd.IntN(3), lines[rnd.IntN(len(lines))]+"\n") + filler(rnd, rnd.IntN(30))
		}
		judged(t, engine, []byte(log))
		reading := read(t, engine, log)
		for _, d := range reading.Report().Diagnoses {
			said[d.ID] = true
		}
	}
	if len(said) != 3 {
		t.Errorf("only %v were found", said)
	}
}

// TestSeenLevel: conditions may look for the level of a line too, and for the beginning of what stands behind it.
func TestSeenLevel(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{
		"facts.yaml": {Data: []byte("facts: [{name: torch, type: version}]\n")},
		"level.yaml": eventSignature("level", "cause", "keywords: [\"kernel launch\"]\nmatch: ['text matches `kernel launch failed`', 'seen(`^ERROR: clue seven`)']"),
		"words.yaml": eventSignature("words", "cause", "keywords: [\"memory fault\"]\nmatch: ['text matches `memory fault`', 'seen(`^clue seven`)']"),
	})
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for want, last := range map[string]string{"level": "kernel launch failed", "words": "memory fault"} {
		found := read(t, engine, "ERROR: clue seven\n"+last+"\n").Report().Diagnoses
		if len(found) != 1 || found[0].ID != want {
			t.Errorf("%s: found is %v", want, found)
		}
	}
}

// TestReadHead: the first lines state what they state, however many like them stated nothing, or the same, before.
func TestReadHead(t *testing.T) {
	base, err := rules.Load(fstest.MapFS{
		"facts.yaml": {Data: []byte(`
facts:
  - {name: gpu, type: string, read: [{pattern: '^GPU \d+: (?P<value>\w+)', keywords: ["GPU 1: ", "GPU 2: "], head: true}]}
  - {name: torch, type: version, packages: [torch], read: [{pattern: 'torch (?P<value>2\.\d+)', keywords: [torch], head: true}]}
  - {name: cuda, type: version, read: [{within: '^cuda [13]\d', pattern: '(?P<value>\d+)', keywords: [cuda], head: true, decode: loose}]}
read:
  - {pattern: '^let (?P<name>\w+) be (?P<value>\w+)', prefix: env., keywords: ["let "], head: true}
  - {pattern: '^give (?P<name>\w+) (?P<value>7\d)$', prefix: env., keywords: ["give "], head: true}
  - {within: 'set \w+=\d+', pattern: '^set (?P<name>[a-z]+)=(?P<value>\d+)', prefix: env., keywords: ["set "], head: true}
packages:
  - {pattern: '^(?P<name>\w+)==(?P<value>[\d.]+)$', keywords: ["=="], head: true}
`)},
		"wordless.yaml": eventSignature("wordless", "cause", "keywords: [\"kernel launch\"]\nmatch: ['text matches `kernel launch failed`', 'seen(`^\\d+ 7\\d$`)']"),
		"common.yaml":   eventSignature("common", "cause", "keywords: [\"memory fault\"]\nmatch: ['text contains \"memory fault\"', 'seen(`use [1-5]\\d gpus`)']"),
	})
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	forms := []string{"GPU 3: first", "torch 1.8", "cuda 22 is here", "let 11_x be 12", "let y be 12", "give x 12", "now set a=91", "torch==2.1", "other==2.1", "12 13", "use 81 gpus",
		"node-1:11:12 [0] NCCL INFO nothing", "nothing"}
	end := "kernel launch failed\nmemory fault\n"
	said, facts := map[string]int{}, map[string]int{}
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		log := ""
		for range 120 {
			line := loglinetest.Renumbered(rnd, forms[rnd.IntN(len(forms))]+"\n")
			if rnd.IntN(2) == 0 {
				line = prefixed(rnd.IntN(3), line)
			}
			log += line
		}
		judged(t, engine, []byte(log+end))
		reading := read(t, engine, log+end)
		for _, d := range reading.Report().Diagnoses {
			said[d.ID]++
		}
		for name := range reading.Origin().Facts {
			facts[name]++
		}
	}
	for _, name := range []string{"gpu", "torch", "cuda", "env.y", "env.x", "env.a"} {
		if facts[name] == 0 {
			t.Errorf("%s was never stated", name)
		}
	}
	if said["wordless"] == 0 || said["common"] == 0 {
		t.Errorf("only %v were found", said)
	}
}

func FuzzRead(f *testing.F) {
	engine, logs := known(f)
	for _, log := range logs[:min(len(logs), 10)] {
		f.Add(log, uint16(0))
	}
	f.Add([]byte("[rank0]: Traceback (most recent call last):\n[rank1]: ValueError: x\n"), uint16(5000))
	f.Add([]byte("[1]+  Killed   x\nTraceback (most recent call last):\nKilled\r\nKilled"), uint16(5100))
	f.Add([]byte("a.bError:\r\nOSError\nx\x1b]0;ValueError: y\rKeyError: z\x07\n"), uint16(6000))
	f.Fuzz(func(t *testing.T, log []byte, lines uint16) {
		judged(t, engine, append(bytes.Repeat([]byte("step\n"), int(lines%10_000)), log...))
	})
}
