package example

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Way is one in which programs wrap a log and people paste it.
type Way struct {
	Name string
	Show func(log string) string // whatever the log, in time and space linear in its length
	Part bool                    // it shows a part of the log only, and so perhaps not what tells the cause from others
}

// Ways are those in which a log keeps its diagnosis.
func Ways() []Way {
	return []Way{
		{Name: "as it is", Show: func(log string) string { return log }},
		{Name: "logging INFO", Show: before("2026-11-20 10:00:00,123 - INFO - ")},
		{Name: "[INFO]", Show: before("[INFO] ")},
		{Name: "INFO:root", Show: before("INFO:root:")},
		{Name: "loguru ERROR", Show: before("2026-11-20 10:00:00.123 | ERROR    | __main__:main:42 - ")},
		{Name: "deepspeed", Show: before("[2026-11-20 10:00:00,123] [INFO] [runner.py:590:main] ")},
		{Name: "quoted >", Show: before("> ")},
		{Name: "issue body", Show: issueBody},
		{Name: "issue, no fence", Show: prose},
		{Name: "issue with title", Show: titled},
		{Name: "issue, set in", Show: setIn},
		{Name: "CRLF", Show: func(log string) string { return strings.ReplaceAll(log, "\n", "\r\n") }},
		{Name: "JSON lines", Show: lineByLine(jsonLine)},
		{Name: "docker JSON", Show: lineByLine(dockerLine)},
		{Name: "k8s CRI", Show: before("2026-11-20T10:00:00.123456789Z stderr F ")},
		{Name: "compose", Show: before("trainer-1  | ")},
		{Name: "cut at 80", Show: lineByLine(cutAt(80))},
		{Name: "cut at 120", Show: lineByLine(cutAt(120))},
		{Name: "folded at 100", Show: lineByLine(foldedAt(100))},
		{Name: "indented", Show: before("    ")},
		{Name: "HTML", Show: html.EscapeString},
		{Name: "Slack escapes", Show: strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace},
		{Name: "smart quotes", Show: smartQuotes},
		{Name: "no backticks", Show: func(log string) string { return strings.ReplaceAll(log, "`", "") }}, // as Markdown shows a log without a fence
		{Name: "no class name", Show: raised("$1$3")},
		{Name: "repr", Show: asRepr},
		{Name: "pytest E", Show: raised("E   $1$2: $3")},
		{Name: "coloured", Show: raised("$1\x1b[1;31m$2\x1b[0m: $3")},
		{Name: "Rich box", Show: lineByLine(boxed)},
		{Name: "behind a bar", Show: behindBar},
		{Name: "last 15 lines", Show: last(15), Part: true},
		{Name: "error alone", Show: errorAlone, Part: true},
		{Name: "caught", Show: caught, Part: true},
		{Name: "in a sentence", Show: inSentence, Part: true},
	}
}

// lineByLine shows each line in a way.
func lineByLine(show func(line string) string) func(string) string {
	return func(log string) string {
		lines := strings.Split(log, "\n")
		for i := range lines {
			lines[i] = show(lines[i])
		}
		return strings.Join(lines, "\n")
	}
}

// before puts a prefix before each line.
func before(prefix string) func(string) string {
	return lineByLine(func(line string) string { return prefix + line })
}

const bug = "Hello, thanks for the great work! I tried to train and it crashed, see below."

// issueBody is what the form for bug reports of most projects makes of a log.
func issueBody(log string) string {
	return "### Describe the bug\n\n" + bug + "\n\n```shell\n" + log + "\n```\n\n### Expected behavior\n\nIt should train.\n\n" +
		"### Environment\n\nUbuntu 22.04, tried on two machines\n"
}

// prose has the log between sentences.
func prose(log string) string { return bug + "\n\n" + log + "\n\nAny help? Thanks in advance.\n" }

// titled has the last line of the log as its title too, as people do.
func titled(log string) string {
	return "# " + strings.TrimSpace(ending(log)) + "\n\nWhenever I run it, I get this error:\n\n" + log + "\n\nHow can I solve it?\n"
}

func ending(log string) string {
	log = strings.TrimRight(log, "\n ")
	return log[strings.LastIndexByte(log, '\n')+1:]
}

// setIn has the log as code between sentences, in the way of Markdown without a fence.
func setIn(log string) string {
	return bug + "\n\n" + before("    ")(log) + "\n\nAny help? Thanks in advance.\n"
}

// inSentence has nothing but the line that names the last exception, in the midst of a sentence.
func inSentence(log string) string {
	if !typed.MatchString(log) {
		return log
	}
	first, _, _ := strings.Cut(rankMark.ReplaceAllString(errorAlone(log), ""), "\n")
	return "Hello, I run it as the read-me says, and then it shows `" + first + "` in the terminal. What can I do?\n"
}

func jsonLine(line string) string {
	quoted, _ := json.Marshal(line) // a string is always written
	return fmt.Sprintf(`{"timestamp": "2026-11-20T10:00:00Z", "level": "error", "message": %s}`, quoted)
}

func dockerLine(line string) string {
	quoted, _ := json.Marshal(line + "\n") // a string is always written
	return fmt.Sprintf(`{"log": %s, "stream": "stderr", "time": "2026-11-20T10:00:00.123456789Z"}`, quoted)
}

// cutAt cuts lines as a terminal does.
func cutAt(width int) func(string) string {
	return func(line string) string {
		var b strings.Builder
		for i, c := range []rune(line) {
			if i > 0 && i%width == 0 {
				b.WriteByte('\n')
			}
			b.WriteRune(c)
		}
		return b.String()
	}
}

var wordOrSpace = regexp.MustCompile(`[ \t]+|[^ \t-]*-+|[^ \t-]+`)

// foldedAt folds lines between words, as Python's textwrap does; a word that is too long is cut.
func foldedAt(width int) func(string) string {
	return func(line string) string {
		var b strings.Builder
		room := width
		for _, word := range wordOrSpace.FindAllString(line, -1) {
			if n := utf8.RuneCountInString(word); n > room && n <= width {
				b.WriteByte('\n')
				room = width
			}
			for _, c := range word {
				if room == 0 {
					b.WriteByte('\n')
					room = width
				}
				b.WriteRune(c)
				room--
			}
		}
		return b.String()
	}
}

var (
	singleQuoted = regexp.MustCompile(`'([^'\n]*)'`)
	doubleQuoted = regexp.MustCompile(`"([^"\n]*)"`)
)

// smartQuotes is what word processors and some chats make of quotes.
func smartQuotes(log string) string {
	return singleQuoted.ReplaceAllString(doubleQuoted.ReplaceAllString(log, "“$1”"), "‘$1’")
}

var (
	// lastLine is the line of a traceback that names the exception, with what tells the rank before it.
	lastLine = regexp.MustCompile(`(?m)^((?:\[[^\]\n]*\]:? *)?)((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Warning|Interrupt|Exit)): (.*)`)
	header   = regexp.MustCompile(`(?m)^((?:\[[^\]\n]*\]:? *)?)Traceback \(most`)
	class    = regexp.MustCompile(`(?m)^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*(?:Error|Exception)): (.+)`)
)

// raised writes the last lines of tracebacks otherwise: $1 is what stands before them, $2 the class, $3 the message.
func raised(as string) func(string) string {
	return func(log string) string { return lastLine.ReplaceAllString(log, as) }
}

// asRepr has exceptions printed by a program that catches them.
func asRepr(log string) string {
	return class.ReplaceAllStringFunc(log, func(line string) string {
		m := class.FindStringSubmatch(line)
		quote, message := "'", strings.ReplaceAll(m[2], `\`, `\\`)
		if strings.Contains(message, "'") && !strings.Contains(message, `"`) {
			quote = `"`
		}
		return "training failed: " + m[1] + "(" + quote + strings.ReplaceAll(message, quote, `\`+quote) + quote + ")"
	})
}

// boxed draws the sides of a box around what is in a traceback.
func boxed(line string) string {
	const width = 96
	for _, start := range []string{"  File", "    ", "Traceback"} {
		if strings.HasPrefix(line, start) {
			inside := []rune(line)
			inside = inside[:min(len(inside), width)]
			return "│ " + string(inside) + strings.Repeat(" ", width-len(inside)) + " │"
		}
	}
	return line
}

// behindBar puts a progress bar where the next output goes on in its line.
func behindBar(log string) string {
	const bar = " 12%|█▏        | 12/100 [00:01<00:08, 10.2it/s]"
	if header.MatchString(log) {
		return header.ReplaceAllString(log, bar+"${1}Traceback (most")
	}
	return lastLine.ReplaceAllString(log, bar+"$1$2: $3")
}

// last is the end of a log.
func last(lines int) func(string) string {
	return func(log string) string {
		all := strings.Split(strings.TrimRight(log, "\n"), "\n")
		return strings.Join(all[max(0, len(all)-lines):], "\n")
	}
}

var rankMark = regexp.MustCompile(`^\[[^\]\n]*\]:? *`)

var typed = regexp.MustCompile(`(?m)^(?:\[[^\]\n]*\]:? *)?(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception): `)

// caught is what a program says that caught the last exception and prints no traceback.
func caught(log string) string {
	if typed.MatchString(log) {
		return "2026-11-20 10:00:00,123 - trainer - ERROR - Training failed: " + rankMark.ReplaceAllString(errorAlone(log), "")
	}
	return log
}

// errorAlone is what follows where the last exception is named.
func errorAlone(log string) string {
	all := typed.FindAllStringIndex(log, -1)
	if len(all) == 0 {
		return log
	}
	return log[all[len(all)-1][0]:]
}
