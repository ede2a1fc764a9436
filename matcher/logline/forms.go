package logline

// This file is the list of what can stand around a program's own words. To add a wrapper, add a row:
//
//   - prefixForms: a mark that tells by itself whose line it is, like "[rank3]: "
//   - labelForms: a mark that is ordinary text unless most lines have it, like "3: "
//   - recordForms: how a logging library begins a record, with its time, level and place
//
// Give the tool that writes it, an example, and the expression; the tests try each row on its own example. Two wrappers have no row:
// the RFC 3339 time that a transport puts before each line (transportStamp), and Docker's JSON (unwrapDocker).

const digits = "0123456789"

// A prefixForm is one way in which launchers, schedulers and collectors mark whose line it is.
//
// The groups of its expression say what was found: rank (global), local (a rank in the node, the role or the file: second best), writer
// (what tells processes apart). The first three columns say cheaply that a line has no such prefix; they must let through all that
// the expression matches. A form without a colon or another end of its own is only believed when another prefix follows it: next.
type prefixForm struct {
	tool    string // that writes it
	example string // a line that begins with it

	first  string // the bytes with which a line of this form can begin, "*" for letters and digits
	second string // the bytes that can follow, "" for any
	has    string // what such a prefix has in it
	re     string // the whole of it, with the space that parts it from the text

	next  string // when not empty: what follows must begin with this
	again bool   // each piece that was written brings it again, in the middle of the line
	ahead bool   // something must follow: "[0]:" alone is an entry of the launcher's list of failures

	expression func() prefixExpression // re, compiled for the first line that needs it: a log has few of the forms
}

// prefixForms are tried in this order, again and again, until none fits.
var prefixForms = withExpressions([]prefixForm{
	{tool: "torchrun", example: "[rank3]: text",
		first: "[", second: "r", has: "rank", re: `\[rank(?P<rank>\d{1,6})\](?:: ?| )`},
	{tool: "torchrun --tee, TorchX and Monarch, which name a role", example: "[trainer0|0]:text",
		first: "[", second: "dtwalprng", has: "]:",
		re: `\[(?P<writer>(?:default|trainer|worker|actor|learner|proc|process|replica|role|node|gpu|local_rank)(?P<local>\d{1,6}))(?:\|\d+)?\]: ?`},
	{tool: "launchers that name a number alone", example: "[2]:text",
		first: "[", second: digits, has: "]:", re: `\[(?P<local>\d{1,5})\]: ?`, ahead: true},
	{tool: "mpirun --tag-output", example: "[1,15]<stdout>:text",
		first: "[", has: "<std", re: `\[\d+,(?P<rank>\d{1,6})\]<(?:stdout|stderr|stddiag)>:`, again: true},
	{tool: "mpirun --tag-output, Open MPI 5", example: "[prterun-node1-12@1,15]<stderr>: text",
		first: "[", has: "<std", re: `\[[\w.-]+@\d+,(?P<rank>\d{1,6})\]<(?:stdout|stderr|stddiag)>: ?`, again: true},
	{tool: "kubectl logs --prefix", example: "[pod/job-worker-3/pytorch] text",
		first: "[", second: "p", has: "pod/", re: `\[(?P<writer>pod/[\w.-]+/[\w.-]+)\] `},
	{tool: "SageMaker", example: "[1,mpirank:0,algo-1]<stderr>:text",
		first: "[", second: digits, has: "mpirank:", re: `\[\d+,mpirank:(?P<rank>\d{1,6}),[\w.-]+\]<std\w+>: ?`},
	{tool: "a web page that counts lines", example: "[80746] [rank0]: text",
		first: "[", second: digits, has: "] [rank", re: `\[\d+\] `, next: "[rank"},
	{tool: "Ray, vLLM and others that name a process", example: "(Worker pid=7207, ip=10.0.0.1) text",
		first: "(", has: "pid=", re: `\((?P<writer>[\w.:<>\[\]-]* ?(?:[\w-]+=[^,()]*, )*?(?:rank=(?P<rank>\d+)[, ]+)?pid=\d+(?:, \w+=[^,()]*)*)\) ?`},
	{tool: "Ray's own processes", example: "(raylet, ip=10.0.0.1) text",
		first: "(", second: "rga", re: `\((?P<writer>(?:raylet|gcs_server|autoscaler)(?:[ ,][^()]*)?)\) ?`},
	{tool: "Metaflow", example: "2023-04-29 06:01:12.977 [177/train/578 (pid 28936)] text",
		first: digits, has: " (pid ", re: `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[(?P<writer>\d+/[\w./-]+ \(pid \d+\))\] `},
	{tool: "launchers that name the node before torchrun's own prefix", example: "0000-steps/0 [default6]:text",
		first: "*", has: " [", re: `[\w.-]+/\d+ `, next: "["},
	{tool: "docker compose", example: "trainer-1  | text",
		first: "*", has: " | ", re: `(?P<writer>[a-z0-9][\w.-]*-\d+(?:-[a-z0-9]+)?) +\| `},
	{tool: "torchrun, after a web page took the brackets for a link", example: "rank4: text",
		first: "*", has: "ank", re: `[Rr]ank ?(?P<rank>\d{1,6}): `},
	{tool: "pytest, before what a process of a job printed", example: "E   [rank3]: text",
		first: "*", second: " ", has: "E   ", re: `E {3,}`, next: "["},
	{tool: "GitHub Actions' commands", example: "##[error]text",
		first: "#", has: "##[", re: `##\[(?:error|warning|debug|command)\]`},
})

// A labelForm is a label in front of a colon that would be ordinary text if only one line had it. It is believed when enough of a
// source's first lines have one and the labels repeat: an enumeration counts up, a job of many tasks comes back to each of them.
type labelForm struct {
	tool    string                              // that writes it
	example string                              // a line that begins with it
	fits    func(label string, indent int) bool // whether that can be a label behind so many spaces
	share   int                                 // percent of the lines that must have one, at least
	rank    bool                                // the label is a global rank, unless a line of the source says that it is a node's number
	proof   bool                                // a traceback behind one label is proof: nothing else prints such a thing there
}

// labelForms are the labels that are looked for. No text fits two of them.
var labelForms = []labelForm{
	{tool: "srun --label", example: " 3: text", fits: isTaskNumber, share: 50, rank: true, proof: true},
	{tool: "pdsh", example: "worker-1: text", fits: isHostLabel, share: 90},
}

// A recordForm is one way in which logging libraries begin a record. The groups of its expression are level and time; level may stand
// in it twice, and the one that took part counts.
type recordForm struct {
	tools   string // that write it
	example string // a line that begins with it

	first  string // the bytes with which such a record begins
	second string // the bytes that can follow, "" for any
	re     string // the header with the space that parts it from the text; timeHere in it stands for a time, which is found without an expression

	shortcut recordShortcut
}

// timeHere stands in the expression of a recordForm for the time that it begins with: finding that without an expression is much faster.
const timeHere = "TIME"

// recordForms are tried in this order.
var recordForms = withShortcuts([]recordForm{
	{tools: "c10d and glog in brackets", example: "[E626 06:24:44.903 file.cpp:616] text",
		first: "[", second: "DIWEFVC",
		re: `\[(?P<level>[DIWEFVC])(?:(?P<time>\d{3,4} \d\d:\d\d:\d\d(?:\.\d+)?))? [^\]\[ ]+:\d+\] ?`},
	{tools: "glog, torch's logging", example: "W1120 14:44:24.223000 4296 file.py:1012] [0/8] text",
		first: "DIWEFVC", second: digits,
		re: `(?P<level>[DIWEFVC])(?P<time>\d{4} \d\d:\d\d:\d\d(?:\.\d+)?)\s+\d+ [^\]\[ ]+:\d+\] ?(?:\[[\w/]+\] )?`},
	{tools: "absl before its clock is set", example: "E0000 00:00:1746431.3 4046 cuda_dnn.cc:8310] text",
		first: "IWEF", second: "0",
		re: `(?P<level>[IWEF])0000 00:00:\d+\.\d+\s+\d+ [^\]\[ ]+:\d+\] ?`},
	{tools: "Ray, DeepSpeed, older torchelastic", example: "[2024-09-11 17:52:18,030] [INFO] [file.py:183:name] text",
		first: "[", second: digits,
		re: `\[` + timeHere + `(?: (?P<level>[DIWEFC]) \d+ \d+\] (?:\([\w-]+\) )?(?:[\w./-]+:\d+: )?` +
			`|\]\s?(?:\[?(?P<level>` + levelPattern + `)\]?:?\s+(?:\[[^\]\[]*\] ?)*|[\w.]+: \[(?P<level>` + levelPattern + `)\] ?)?)`},
	{tools: "NeMo", example: "[NeMo W 2024-05-24 03:30:22 file:12] text",
		first: "[",
		re:    `\[[A-Za-z]\w* (?P<level>[DIWE]) (?P<time>` + stampPattern + `) [^\]\[]*\] ?`},
	{tools: "transformers and its like", example: "[INFO|trainer.py:2926] 2024-05-24 03:30:22,799 >> text",
		first: "[", second: "DIWECFS",
		re: `\[(?P<level>` + levelPattern + `) *(?:\|[^\]\[]*)?\]:? ?(?:(?P<time>` + stampPattern + `) )?(?:>> )?(?:\[[^\]\[ ]+:\d+[^\]\[]*\] ?)?`},
	{tools: "TensorFlow", example: "2023-12-05 09:29:18.697209: E tensorflow/cuda_dnn.cc:9342] text",
		first: digits, second: digits,
		re: timeHere + `: (?P<level>[DIWEF]) [^\]\[ ]+:\d+\] ?`},
	{tools: "logging with a format, loguru", example: "2024-05-24 03:30:22.1 | ERROR | name:f:12 - text",
		first: digits, second: digits,
		re: timeHere + `(?:\s*[-|:,]?\s+|[:|])(?:\[?[\w./-]+\]?\s*[-|:]\s+)?\[?(?P<level>` + levelPattern + `)\]?` +
			`(?:\s*[-|:]\s*|\s+)(?:\[[^\]\[]*\]:?\s*|[\w.<>]+(?::[\w.<>]+)*(?: - |: | \| ))?`},
	{tools: "vLLM", example: "ERROR 12-29 15:21:11 [file.py:751] text",
		first: "DIWECFS", second: "EINARX",
		re: `(?P<level>` + levelPattern + `)\s+(?P<time>` + stampPattern + `)\s+\[?[^\]\[]{1,120}\] ?`},
	{tools: "logging's default and its relatives", example: "ERROR:name:text",
		first: "DIWECFS", second: "EINARX",
		re: `(?P<level>` + levelPattern + `):(?:(?P<time>` + stampPattern + `):|[\w.-]+: ?| )`},
})

// levelPattern is a severity in words.
const levelPattern = `(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|SEVERE|EXCEPTION)`
