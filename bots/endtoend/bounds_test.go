package endtoend

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	t.Parallel()
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
