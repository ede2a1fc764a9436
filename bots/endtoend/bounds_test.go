package endtoend

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// 1,100 senders that send slowly, where a process may have 1,024 files open, shut nobody out: neither with the body of a log or a webhook,
// nor with a header.
func TestSlowSendersShutNobodyOut(t *testing.T) {
	t.Parallel()
	s := newSlack(t)
	p := run(t, exec.Command("sh", "-c", `ulimit -n 1024 && exec "$0" serve`, program), t.TempDir(), s.settings()...).ready()
	address := strings.TrimPrefix(p.address, "http://")
	const senders = 1100
	for i := range senders {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatalf("sender %d: %v", i, err)
		}
		defer conn.Close()
		begins := []string{"POST /v1/diagnose HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc",
			"POST /slack/commands HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc", "GET /healthz HTTP/1.1\r\nHo"}
		if _, err := conn.Write([]byte(begins[i%len(begins)])); err != nil {
			t.Fatalf("sender %d: %v", i, err)
		}
	}
	for range 3 {
		fresh := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
		for _, path := range []string{"/healthz", "/readyz"} {
			response, err := fresh.Get(p.address + path)
			if err != nil {
				t.Fatalf("%s beside %d slow senders: %v", path, senders, err)
			}
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", path, response.Status)
			}
		}
	}
	log, _ := failingLog(t)
	code, _, at, _ := s.slash(p, log)
	if code != http.StatusOK {
		t.Errorf("a slash command is answered with %d", code)
	}
	eventually(t, "an answer", p, func() bool { return len(s.in(at)) == 1 })
}

// slowLog is a log that keeps the engine busy until its time is over.
func slowLog(mib int) []byte {
	var log bytes.Buffer
	for i := 0; log.Len() < mib<<20; i++ {
		fmt.Fprintf(&log, "[rank%d]: Traceback (most recent call last):\n[rank%d]:   File \"/w/a%d.py\", line %d, in f\n[rank%d]: RuntimeError: NCCL error %d\n", i, i, i, i, i, i)
	}
	return log.Bytes()
}

// Logs that strangers post, however slow to read, delay no answer in Slack and none on an issue.
func TestPostedLogsDelayNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("it keeps a processor busy, and the race detector makes that longer")
	}
	s, g := newSlack(t), newGitHub(t)
	data := t.TempDir()
	p := start(t, data, append(s.settings(), append(g.asApp(), "TRIAGE_DIAGNOSE_RATE=0")...)...)
	g.aim(p)
	posted := slowLog(48)
	const posts = 4
	answered := make(chan string, posts)
	for range posts {
		go func() {
			response, err := http.Post(p.address+"/v1/diagnose?keep=false", "text/plain", bytes.NewReader(posted))
			if err != nil {
				answered <- err.Error()
				return
			}
			response.Body.Close()
			answered <- response.Status
		}()
	}
	eventually(t, "the posted logs", p, func() bool { // one is read, the others wait for it
		files, _ := filepath.Glob(filepath.Join(data, "downloads", "*", "fetched*"))
		received := 0
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				received += int(info.Size())
			}
		}
		return received == posts*len(posted)
	})
	log, _ := failingLog(t)
	_, _, at, _ := s.slash(p, log)
	g.open(1, "ann", body(t))
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	eventually(t, "answers in Slack and on GitHub", p, func() bool { return len(s.in(at)) == 1 && len(g.ours(1)) == 1 })
	if n := len(answered); n == posts {
		t.Errorf("the posted logs were all answered before: nothing is shown")
	}
	p.kill()
	for range posts {
		<-answered
	}
}

// peak is the most memory that the process has had, in MiB.
func (p *process) peak() int {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Skipf("nobody tells the memory of a process here: %v", err)
	}
	kib := 0
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, _ = fmt.Sscan(rest, &kib)
		}
	}
	return kib >> 10
}

// together sends a body many times at once, and returns how often it was answered how; 0 is a connection that was closed.
func together(p *process, path string, times int, body []byte, headers ...string) map[int]int {
	var mu sync.Mutex
	answers := map[int]int{}
	var group sync.WaitGroup
	for range times {
		group.Go(func() {
			code := post(p.address+path, body, headers...)
			mu.Lock()
			defer mu.Unlock()
			answers[code]++
		})
	}
	group.Wait()
	return answers
}

// Bodies whose signature nobody has checked yet, and small ones that unpack to much, take little memory and little of the disk together.
func TestLargeBodies(t *testing.T) {
	if watched || testing.Short() {
		t.Skip("the race detector takes memory of its own")
	}
	g := newGitHub(t)
	data := t.TempDir()
	p := start(t, data, append(g.asApp(), "TRIAGE_DIAGNOSE_RATE=0")...)
	before := p.peak()
	answers := together(p, "/github/webhook", 60, make([]byte, 24<<20), "X-Hub-Signature-256", "sha256=00", "Content-Type", "application/json")
	t.Logf("60 unsigned bodies of 24 MiB: answers %v, at most %d MiB, %d before", answers, p.peak(), before)
	// Half of what all would take. The bodies that are held at a time are far less; how soon the rest is collected depends on the machine.
	if answers[http.StatusOK] > 0 || p.peak() > before+60*24/2 {
		t.Errorf("unsigned bodies: answers %v, %d MiB in use, %d before", answers, p.peak(), before)
	}
	var small bytes.Buffer
	pack := gzip.NewWriter(&small)
	_, _ = pack.Write(bytes.Repeat([]byte("nothing to see here\n"), 200<<20/20))
	_ = pack.Close()
	before = p.peak()
	answers = together(p, "/v1/diagnose?keep=false", 8, small.Bytes(), "Content-Encoding", "gzip")
	t.Logf("8 bodies of %d KiB that unpack to 200 MiB: answers %v, at most %d MiB, %d before", small.Len()>>10, answers, p.peak(), before)
	if answers[http.StatusServiceUnavailable] == 0 || answers[http.StatusOK] == 0 || p.peak() > before+512 {
		t.Errorf("packed bodies: answers %v, %d MiB in use, %d before", answers, p.peak(), before)
	}
	before = p.peak()
	response, err := http.Post(p.address+"/v1/diagnose?keep=false", "application/gzip", bytes.NewReader(manyEntries(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if said, _ := io.ReadAll(response.Body); !strings.Contains(string(said), "Not all of") || p.peak() > before+128 {
		t.Errorf("an archive of many entries: %.2000s, %d MiB in use, %d before", said, p.peak(), before)
	}
	if left, _ := filepath.Glob(filepath.Join(data, "downloads", "*", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if code, _ := p.get("/readyz"); code != http.StatusOK {
		t.Errorf("afterwards, /readyz: %d\n%s", code, p.logged())
	}
}

// manyEntries is a packed archive of 200,000 empty files.
func manyEntries(t *testing.T) []byte {
	t.Helper()
	var one, packed bytes.Buffer
	if err := tar.NewWriter(&one).WriteHeader(&tar.Header{Name: "a", Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	pack := gzip.NewWriter(&packed)
	if _, err := pack.Write(bytes.Repeat(one.Bytes(), 200_000)); err != nil {
		t.Fatal(err)
	}
	if err := pack.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}
