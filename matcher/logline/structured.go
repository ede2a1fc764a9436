package logline

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// structured is what a record in JSON says.
type structured struct {
	text  string // with line breaks when it has several lines
	level Level
	rank  int // NoRank when it names none
	host  string
	time  time.Time
}

// The names under which programs and collectors put what a record says, the best first. They are looked for in the record and in the
// objects within it.
var (
	textKeys  = []string{"message", "msg", "log", "text", "event", "body", "line", "content", "textPayload", "MESSAGE", "Body", "data", "output", "@message", "log_message"}
	innerKeys = []string{"jsonPayload", "log", "message", "data", "record", "fields", "body", "attributes", "labels", "kubernetes", "resource", "event"}
	errorKeys = []string{"exc_info", "exception", "stack_trace", "stack", "traceback", "exc_text", "stacktrace"}
	causeKeys = []string{"error", "err"} // of programs in Go, which keep what failed and why apart
	levelKeys = []string{"level", "levelname", "severity", "lvl", "log.level", "loglevel", "severity_text"}
	rankKeys  = []string{"rank", "global_rank", "RANK"}
	hostKeys  = []string{"host", "hostname", "node", "pod", "pod_name", "_HOSTNAME", "container_name", "instance"}
	timeKeys  = []string{"time", "timestamp", "ts", "@timestamp", "asctime", "date", "datetime"}
)

// maxNested is how deep an object within a record may stand.
const maxNested = 3

// parseJSON reads a line that is a record in JSON; ok is false when it is none, or has no text.
func parseJSON(line string) (r structured, ok bool) {
	if len(line) < 2 || line[0] != '{' || line[1] != '"' && line[1] != ' ' || line[len(line)-1] != '}' {
		return r, false
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(line), &object); err != nil {
		return r, false
	}
	r.rank = NoRank
	found := r.read(object, maxNested)
	return r, found
}

// read takes what an object says; what was said before it counts more. It tells whether there is a text.
func (r *structured) read(object map[string]any, depth int) (found bool) {
	if r.level == "" {
		r.level = levelNamed(textOf(object, levelKeys))
	}
	if r.rank == NoRank {
		r.rank = rankNamed(object)
	}
	if r.host == "" {
		r.host = textOf(object, hostKeys)
	}
	if r.time.IsZero() {
		r.time = TimeIn(textOf(object, timeKeys))
	}
	text := textOf(object, textKeys)
	if why := textOf(object, causeKeys); why != "" && text != "" && !strings.Contains(text, why) {
		text = strings.TrimRight(text, "\n") + ": " + why
	}
	if why := textOf(object, errorKeys); why != "" && !strings.Contains(text, why) {
		text = strings.TrimLeft(text+"\n"+why, "\n")
	}
	if cells, ok := object["cells"].([]any); ok {
		text = outputsOf(cells)
	}
	if r.text == "" {
		r.text = text
	}
	found = hasText(object, textKeys) || text != ""
	if depth == 0 {
		return found
	}
	for _, key := range innerKeys {
		if inner, ok := object[key].(map[string]any); ok {
			within := r.read(inner, depth-1)
			found = found || within
		}
	}
	return found
}

// outputsOf are the texts that the cells of a notebook printed, of one that stands on one line.
func outputsOf(cells []any) string {
	var b strings.Builder
	for _, cell := range cells {
		cell, _ := cell.(map[string]any)
		outputs, _ := cell["outputs"].([]any)
		for _, output := range outputs {
			output, _ := output.(map[string]any)
			b.WriteString(textOf(output, outputKeys))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// outputKeys are where an output of a notebook has its text.
var outputKeys = []string{"text", "traceback"}

// hasText tells whether one of the keys is there with a text, which may be empty.
func hasText(object map[string]any, keys []string) bool {
	for _, key := range keys {
		if _, ok := object[key].(string); ok {
			return true
		}
	}
	return false
}

// textOf is the first text under one of the keys that is not empty. A list of texts is one text.
func textOf(object map[string]any, keys []string) string {
	for _, key := range keys {
		switch value := object[key].(type) {
		case string:
			if value != "" {
				return value
			}
		case []any:
			if text := joined(value); text != "" {
				return text
			}
		}
	}
	return ""
}

// joined puts a list of texts together, as tracebacks stand in notebooks and in structured exceptions.
func joined(list []any) string {
	var b strings.Builder
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return ""
		}
		b.WriteString(text)
		if !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// rankNamed is the rank that an object names, as a number or in digits.
func rankNamed(object map[string]any) int {
	for _, key := range rankKeys {
		switch value := object[key].(type) {
		case float64:
			return ParseRank(strconv.FormatFloat(value, 'f', -1, 64))
		case string:
			return ParseRank(value)
		}
	}
	return NoRank
}

// levelNamed is the level that a word of any case means.
func levelNamed(word string) Level {
	word = strings.ToUpper(word)
	if word == "WARN" || levelWords[word] {
		return levelOf(word)
	}
	return ""
}
