package endtoend

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// natsVariable holds the options of the NATS node that this test binary is to be, when it is started as one.
const natsVariable = "TRIAGE_TEST_NATS_NODE"

// natsNode is one node of a cluster.
type natsNode struct {
	Name, Dir     string
	Client, Route int // ports
	Routes        []int
}

// serveNATS is a NATS node until it is killed.
func serveNATS(options string) error {
	var n natsNode
	if err := json.Unmarshal([]byte(options), &n); err != nil {
		return err
	}
	const host = "127.0.0.1"
	o := &server.Options{ServerName: n.Name, Host: host, Port: n.Client, JetStream: true, JetStreamMaxStore: roomOfNode,
		StoreDir: n.Dir, SyncAlways: true, NoLog: true, Cluster: server.ClusterOpts{Name: "triage", Host: host, Port: n.Route}}
	for _, port := range n.Routes {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("%s:%d", host, port)})
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	s.WaitForShutdown()
	return nil
}

// natsCluster is a cluster whose nodes are processes of their own.
type natsCluster struct {
	t       testing.TB
	nodes   []natsNode
	running []*exec.Cmd
}

// startNATS starts a cluster of so many nodes.
func startNATS(t testing.TB, size int) *natsCluster {
	t.Helper()
	c := &natsCluster{t: t, running: make([]*exec.Cmd, size)}
	var routes []int
	for range size {
		routes = append(routes, freePort(t))
	}
	for i := range size {
		c.nodes = append(c.nodes, natsNode{Name: fmt.Sprint("node-", i), Dir: t.TempDir(), Client: freePort(t), Route: routes[i], Routes: routes})
		c.start(i)
	}
	t.Cleanup(func() {
		for i := range size {
			c.kill(i)
		}
	})
	return c
}

// freePort is a port that nothing listens on, and that no other test is given by the system: those are larger.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10_000 + rand.IntN(20_000)
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// start starts a node, over what it stored when it ran before.
func (c *natsCluster) start(i int) {
	c.t.Helper()
	options, err := json.Marshal(c.nodes[i])
	if err != nil {
		c.t.Fatal(err)
	}
	c.running[i] = exec.Command(os.Args[0])
	c.running[i].Env = append(os.Environ(), natsVariable+"="+string(options))
	if err := c.running[i].Start(); err != nil {
		c.t.Fatal(err)
	}
}

// kill kills a node with signal 9, if it runs.
func (c *natsCluster) kill(i int) {
	if c.running[i] == nil {
		return
	}
	_ = c.running[i].Process.Kill()
	_ = c.running[i].Wait() // it says that it was killed
	c.running[i] = nil
}

// setting is where the replicas find the cluster.
func (c *natsCluster) setting() string {
	var urls []string
	for _, n := range c.nodes {
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", n.Client))
	}
	return "NATS_URL=" + strings.Join(urls, ",")
}
