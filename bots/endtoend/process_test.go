// Package endtoend runs the real triage as a separate process against servers that behave as Slack and GitHub do, kills it with
// signal 9 at named points, and looks at what people would see.
package endtoend

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is the built triage, with the race detector where the tests have it.
var program string

func TestMain(m *testing.M) {
	if options := os.Getenv(natsVariable); options != "" {
		if err := serveNATS(options); err != nil {
			panic(err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "triage-endtoend")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "triage")
	arguments := []string{"build", "-buildvcs=false", "-o", program, "../../cmd/triage"}
	if watched {
		arguments = slices.Insert(arguments, 1, "-race")
	}
	build := exec.Command("go", arguments...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n%v\n", out, err)
		os.Exit(1)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait more than they work
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// process is a running triage serve.
type process struct {
	t       testing.TB
	cmd     *exec.Cmd
	address string // http://host:port
	exited  chan struct{}
	serves  chan string

	mu  sync.Mutex
	log bytes.Buffer
}

// start runs triage serve with settings of name=value over a data folder and waits until it answers.
func start(t testing.TB, data string, settings ...string) *process {
	t.Helper()
	return launch(t, data, settings...).ready()
}

// ready waits until the process answers.
func (p *process) ready() *process {
	p.t.Helper()
	select {
	case at := <-p.serves:
		p.address = "http://" + at
	case <-p.exited:
		p.t.Fatalf("triage serve ended at once:\n%s", p.logged())
	case <-time.After(30 * time.Second):
		p.t.Fatalf("triage serve did not start:\n%s", p.logged())
	}
	return p
}

// door is an address that stays the same when the process behind it is another.
func door(t testing.TB) (setting string) {
	t.Helper()
	return fmt.Sprint("TRIAGE_LISTEN=127.0.0.1:", freePort(t))
}

// launch runs triage serve and waits for nothing.
func launch(t testing.TB, data string, settings ...string) *process {
	t.Helper()
	return run(t, exec.Command(program, "serve"), data, settings...)
}

// run runs a command that becomes triage serve.
func run(t testing.TB, command *exec.Cmd, data string, settings ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: command, exited: make(chan struct{}), serves: make(chan string, 1)}
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TRIAGE_LISTEN=127.0.0.1:0", "TRIAGE_DATA=" + data,
		"TRIAGE_LEASE=2s", "TRIAGE_DEBOUNCE=0s"}, settings...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.listen(stderr)
	t.Cleanup(func() {
		p.kill()
		if strings.Contains(p.logged(), "WARNING: DATA RACE") {
			t.Errorf("a data race:\n%s", p.logged())
		}
	})
	return p
}

// listen keeps what the process logs, and its address.
func (p *process) listen(stderr io.Reader) {
	defer close(p.exited)
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		p.mu.Lock()
		p.log.WriteString(line)
		p.mu.Unlock()
		var entry struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "triage serves" {
			select {
			case p.serves <- entry.Address:
			default: // it has started anew within itself
			}
		}
		if err != nil {
			_ = p.cmd.Wait()
			return
		}
	}
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// died waits until the process has ended by itself.
func (p *process) died() {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(30 * time.Second):
		p.t.Fatalf("the process did not reach its crash point:\n%s", p.logged())
	}
}

// stop asks the process to end and returns how long that took.
func (p *process) stop() time.Duration {
	p.t.Helper()
	began := time.Now()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(40 * time.Second):
		p.t.Fatalf("the process did not stop:\n%s", p.logged())
	}
	return time.Since(began)
}

// get reads a page of the process.
func (p *process) get(path string, headers ...string) (int, string) {
	p.t.Helper()
	request, err := http.NewRequest(http.MethodGet, p.address+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(body)
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, p *process, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if condition() {
			return
		}
	}
	log := ""
	if p != nil {
		log = p.logged()
	}
	t.Fatalf("%s: not within two minutes\n%s", what, log)
}

// settled waits until the queue is empty and has been for a moment.
func settled(t testing.TB, p *process) {
	t.Helper()
	empty := func() bool { _, page := p.get("/metrics"); return strings.Contains(page, "\ntriage_queue_depth 0\n") }
	eventually(t, "an empty queue", p, func() bool { return empty() })
	time.Sleep(200 * time.Millisecond)
	eventually(t, "an empty queue", p, empty)
}

// failingLog is a real log with a failure that the shipped knowledge base knows, and the signature that it has.
func failingLog(t testing.TB) (text, signature string) {
	t.Helper()
	content, err := os.ReadFile("../../testdata/logs/attention/softcap-backward.log")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(content)) {
		if rest, ok := strings.CutPrefix(line, "#=match= "); ok {
			signature, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
		}
		if !strings.HasPrefix(line, "#=") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ""), signature
}
