package live

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// exporter writes what dcgm-exporter writes for one host with two GPUs, label being the name under which it gives the host. Each
// scrape shows a moment half a minute later than the one before, so that a test need not wait for history to happen.
type exporter struct {
	host, label string
	begin       time.Time
	scrapes     atomic.Int64
	xid         func(step int64) int
}

const exporterSteps = 20

func (e *exporter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	step := min(e.scrapes.Add(1)-1, exporterSteps)
	at := e.begin.Add(time.Duration(step) * 30 * time.Second).UnixMilli()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	for gpu, uuid := range []string{"GPU-aaaa", "GPU-bbbb"} {
		labels := fmt.Sprintf(`gpu="%d",UUID="%s",pci_bus_id="00000000:0%d:00.0",device="nvidia%d",modelName="NVIDIA H100 80GB HBM3",%s="%s",DCGM_FI_DRIVER_VERSION="535.129.03"`,
			gpu, uuid, gpu+1, gpu, e.label, e.host)
		value := func(name string, v any) {
			fmt.Fprintf(w, "# TYPE %[1]s gauge\n%[1]s{%[2]s} %[3]v %[4]d\n", name, labels, v, at)
		}
		value("DCGM_FI_DEV_FB_USED", 71000)
		value("DCGM_FI_DEV_FB_FREE", 10559)
		value("DCGM_FI_DEV_GPU_TEMP", 61)
		value("DCGM_FI_DEV_ROW_REMAP_FAILURE", gpu)
		value("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "9223372036854775794")
		value("DCGM_FI_DEV_POWER_USAGE", "140737488355328.000000")
		xid := 0
		if gpu == 1 {
			xid = e.xid(step)
		}
		value("DCGM_FI_DEV_XID_ERRORS", xid)
	}
}

// startPrometheus runs Debian's Prometheus over the exporters until they have told all they have, and returns its address.
func startPrometheus(t *testing.T, exporters ...*exporter) string {
	t.Helper()
	path, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed (Debian: apt-get install prometheus)")
	}
	folder := t.TempDir()
	config := "global: {scrape_interval: 100ms, scrape_timeout: 100ms}\nscrape_configs:\n- job_name: dcgm\n  static_configs:\n"
	for _, e := range exporters {
		server := httptest.NewServer(e)
		t.Cleanup(server.Close)
		config += fmt.Sprintf("  - {targets: ['%s']}\n", strings.TrimPrefix(server.URL, "http://"))
	}
	if err := os.WriteFile(filepath.Join(folder, "prometheus.yml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	cmd := exec.Command(path, "--config.file="+filepath.Join(folder, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address)
	output, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for _, e := range exporters {
		for e.scrapes.Load() <= exporterSteps+1 { // until the test's own time limit
			if cmd.ProcessState != nil {
				log, _ := os.ReadFile(output.Name())
				t.Fatalf("prometheus ended:\n%s", log)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return "http://" + address
}

func TestRealPrometheus(t *testing.T) {
	begin := time.Now().Add(-(exporterSteps + 1) * 30 * time.Second).Truncate(time.Second)
	fell := begin.Add(10 * 30 * time.Second)
	old := &exporter{host: "node-a.cluster.local", label: "Hostname", begin: begin, xid: func(step int64) int {
		if step < 10 {
			return 0
		}
		return 79
	}}
	now := &exporter{host: "node-b", label: "hostname", begin: begin, xid: func(int64) int { return 31 }} // sticky, from long before
	end := begin.Add(exporterSteps * 30 * time.Second)
	p := &Prometheus{URL: startPrometheus(t, old, now), Base: base(t), Timeout: time.Minute}

	machines, err := p.Hosts(context.Background(), []string{"node-a", "node-b.example.com", "node-c", `evil"} or vector(1) #`}, end)
	if err != nil {
		t.Fatal(err)
	}
	if len(machines) != 2 || machines[0].Host != "node-a.cluster.local" || machines[1].Host != "node-b" {
		t.Fatalf("%+v", machines)
	}
	number := func(n float64) *float64 { return &n }
	count := func(n int) *int { return &n }
	want := GPU{Index: 1, Name: "NVIDIA H100 80GB HBM3", UUID: "GPU-bbbb", Bus: "00000000:02:00.0", Temperature: number(61),
		Memory: Memory{TotalMiB: number(81559), UsedMiB: number(71000), FreeMiB: number(10559)}, Remapped: RemappedRows{Failure: true}, LastXid: count(79)}
	if diff := cmp.Diff(want, machines[0].GPUs[1]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	b := base(t)
	expect(t, values(machines[0], b), map[string]any{"gpu": "NVIDIA H100 80GB HBM3", "driver": "535.129.03", "gpu_count": 2.0, "gpu_memory_gib": 79.65,
		"gpu_others_gib": unknownFact, "xid_blame": "hardware", "torch": unknownFact,
		"gpu_trouble": "GPU 1: a bad memory row could not be replaced: the GPU has to be replaced"})
	xids := machines[0].Xids
	if len(xids) != 1 || xids[0].Code != 79 || *xids[0].GPU != 1 || xids[0].Time.Before(fell) || xids[0].Time.After(fell.Add(time.Minute)) {
		t.Errorf("Xids %+v, the GPU fell at %v", xids, fell)
	}
	// The other host's gauge says 31 all the time: of any age, so no event.
	expect(t, values(machines[1], b), map[string]any{"xid_blame": unknownFact, "xids": unknownFact})
	if *machines[1].GPUs[1].LastXid != 31 {
		t.Errorf("%+v", machines[1].GPUs[1])
	}
	fleet := map[string]any{}
	for _, f := range Fleet(machines, b.Vocabulary) {
		fleet[f.Name] = f.Value.JSON()
	}
	expect(t, fleet, map[string]any{"gpu": "NVIDIA H100 80GB HBM3", "gpu_count": 2.0, "xid_blame": "hardware",
		"gpu_trouble": "node-a.cluster.local GPU 1: a bad memory row could not be replaced: the GPU has to be replaced; " +
			"node-b GPU 1: a bad memory row could not be replaced: the GPU has to be replaced"})

	earlier, err := p.Hosts(context.Background(), []string{"node-a"}, fell.Add(-time.Minute))
	if err != nil || len(earlier) != 1 || len(earlier[0].Xids) != 0 || *earlier[0].GPUs[1].LastXid != 0 {
		t.Errorf("before it fell: %+v, %v", earlier, err)
	}
}

// Whatever a server answers, the caller gets an error in one line, in time.
func TestPrometheusTrouble(t *testing.T) {
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter)
		want   string
	}{
		{"hangs", func(http.ResponseWriter) { <-hang }, "no answer from Prometheus in time"},
		{"hangs in the middle", func(w http.ResponseWriter) { fmt.Fprint(w, `{"status":`); w.(http.Flusher).Flush(); <-hang }, "broke off"},
		{"not found", func(w http.ResponseWriter) { http.Error(w, "no such page", http.StatusNotFound) }, "404 Not Found and no JSON"},
		{"refuses", func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"status":"error","errorType":"bad_data","error":"parse error"}`)
		}, "parse error"},
		{"nonsense", func(w http.ResponseWriter) { fmt.Fprint(w, `{"status":"success","data":{"result":[{"value":["x"]}]}}`) }, "no JSON that can be read"},
		{"endless", func(w http.ResponseWriter) {
			for range 9 << 10 {
				w.Write(make([]byte, 1<<10))
			}
		}, "larger than 8 MiB"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { test.answer(w) }))
			limit := time.Minute
			if strings.HasPrefix(test.name, "hangs") {
				limit = 200 * time.Millisecond
			}
			t.Cleanup(func() { server.CloseClientConnections() })
			p := &Prometheus{URL: server.URL + "/", Base: base(t), Timeout: limit}
			machines, err := p.Hosts(context.Background(), []string{"node-a"}, time.Now())
			if err == nil || !strings.Contains(err.Error(), test.want) || machines != nil {
				t.Errorf("%v, %v; want %q", machines, err, test.want)
			}
		})
	}
	if _, err := (&Prometheus{URL: "http://127.0.0.1:1", Base: base(t)}).Hosts(context.Background(), []string{"a"}, time.Now()); err == nil {
		t.Error("nobody listens there, and yet no error")
	}
}

// Two hosts with the same short name cannot be told apart by it.
func TestPrometheusAmbiguousHosts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "range") {
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"matrix","result":[]}}`)
			return
		}
		var parts []string
		for _, host := range []string{"gpu1.east", "gpu1.west"} {
			parts = append(parts, fmt.Sprintf(`{"metric":{"__name__":"DCGM_FI_DEV_GPU_TEMP","gpu":"0","Hostname":%q},"value":[1700000000.1,"40"]}`, host))
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, strings.Join(parts, ","))
	}))
	defer server.Close()
	p := &Prometheus{URL: server.URL, Base: base(t)}
	if machines, err := p.Hosts(context.Background(), []string{"gpu1"}, time.Now()); err == nil || len(machines) != 0 {
		t.Errorf("%v, %v", machines, err)
	}
	if machines, err := p.Hosts(context.Background(), []string{"gpu1.west"}, time.Now()); err != nil || len(machines) != 1 || machines[0].Host != "gpu1.west" {
		t.Errorf("%v, %v", machines, err)
	}
}
