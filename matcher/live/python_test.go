package live

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/traceback"
)

// dist writes a package's metadata into a folder of the machine.
func (m machine) dist(folder, name, version string) {
	m.t.Helper()
	stem := strings.ReplaceAll(name, "-", "_") + "-" + version + ".dist-info"
	m.write(filepath.Join(folder, stem, "METADATA"), "Metadata-Version: 2.4\nName: "+name+"\nVersion: "+version+"\n\nName: not this one\n")
}

// venv makes a virtual environment over a base interpreter.
func (m machine) venv(path, extra string) {
	m.t.Helper()
	m.write("base/bin/python3.12", "")
	if err := os.Chmod(m.path("base/bin/python3.12"), 0o755); err != nil {
		m.t.Fatal(err)
	}
	m.write(path+"/pyvenv.cfg", "home = "+filepath.Join(m.root, "base/bin")+"\nversion = 3.12.3\n"+extra)
	for _, folder := range []string{path + "/bin", path + "/lib/python3.12/site-packages", "base/lib/python3.12/site-packages"} {
		if err := os.MkdirAll(filepath.Join(m.root, folder), 0o755); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(m.root, "base/bin/python3.12"), filepath.Join(m.root, path, "bin/python3")); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) path(name string) string { return filepath.Join(m.root, name) }

func TestPythonEnvironments(t *testing.T) {
	const site = "lib/python3.12/site-packages"
	tests := []struct {
		name    string
		prepare func(m machine)
		options func(m machine) Options
		want    map[string]any
	}{
		{"the environment in use", func(m machine) {
			m.venv("venv", "")
			m.dist("venv/"+site, "torch", "2.6.0")
			m.dist("base/"+site, "flash-attn", "2.7.3") // not seen from the venv
		}, func(m machine) Options { return Options{Env: []string{"VIRTUAL_ENV=" + m.path("venv")}} },
			map[string]any{"python": "3.12.3", "torch": "2.6.0", "flash_attn": nil, "env.NVTE_FUSED_ATTN": unknownFact}},
		{"with system packages, the nearer one counts", func(m machine) {
			m.venv("venv", "include-system-site-packages = true\n")
			m.dist("venv/"+site, "torch", "2.6.0")
			m.dist("base/"+site, "torch", "2.1.0")
			m.dist("base/"+site, "flash-attn", "2.7.3")
		}, func(m machine) Options { return Options{Python: m.path("venv")} },
			map[string]any{"torch": "2.6.0", "flash_attn": "2.7.3"}},
		{"the user's own packages hide the container's", func(m machine) {
			m.venv("venv", "include-system-site-packages = true\n")
			m.dist("home/.local/"+site, "transformer-engine", "1.11.0")
			m.dist("base/"+site, "transformer-engine", "2.3.0+abc")
		}, func(m machine) Options {
			return Options{Env: []string{"HOME=" + m.path("home"), "PATH=" + m.path("venv/bin")}}
		},
			map[string]any{"transformer_engine": "1.11.0"}},
		{"PYTHONPATH comes first", func(m machine) {
			m.venv("venv", "")
			m.dist("venv/"+site, "vllm", "0.8.0")
			m.dist("extra", "vllm", "0.9.1")
		}, func(m machine) Options {
			return Options{Env: []string{"PYTHONPATH=" + m.path("extra") + ":/nowhere", "VIRTUAL_ENV=" + m.path("venv")}}
		},
			map[string]any{"vllm": "0.9.1"}},
		{"the interpreter that torchrun names", func(m machine) {
			m.venv("venv", "")
			m.venv("other", "")
			m.dist("venv/"+site, "torch", "2.6.0")
			m.dist("other/"+site, "torch", "1.13.1")
			m.write("bin/torchrun", "#!"+m.path("venv/bin/python3")+"\n")
			os.Chmod(m.path("bin/torchrun"), 0o755)
		}, func(m machine) Options {
			return Options{Command: []string{"torchrun", "x.py"}, Env: []string{"PATH=" + m.path("bin"), "VIRTUAL_ENV=" + m.path("other"), "NVTE_FLASH_ATTN=0"}}
		}, map[string]any{"torch": "2.6.0", "env.NVTE_FLASH_ATTN": "0", "env.NVTE_FUSED_ATTN": nil}}, // what is not set is known of a command

		{"conda", func(m machine) {
			m.write("conda/bin/python3.12", "")
			os.Symlink("python3.12", m.path("conda/bin/python3"))
			m.write("conda/conda-meta/python-3.12.7-h5148396_0.json", "{}")
			m.dist("conda/"+site, "torch", "2.5.1")
		}, func(m machine) Options { return Options{Env: []string{"CONDA_PREFIX=" + m.path("conda")}} },
			map[string]any{"python": "3.12.7", "torch": "2.5.1"}},
		{"pyenv's shim", func(m machine) {
			m.write("pyenv/shims/python3", "#!/usr/bin/env bash\n")
			os.Chmod(m.path("pyenv/shims/python3"), 0o755)
			m.write("pyenv/version", "3.12.4\n")
			m.write("pyenv/versions/3.12.4/bin/python3.12", "")
			os.Symlink("python3.12", m.path("pyenv/versions/3.12.4/bin/python3"))
			m.dist("pyenv/versions/3.12.4/"+site, "jax", "0.5.0")
		}, func(m machine) Options { return Options{Env: []string{"PATH=" + m.path("pyenv/shims")}} },
			map[string]any{"jax": "0.5.0"}},
		{"a folder of packages", func(m machine) {
			m.dist("site", "xformers", "0.0.28")
			m.write("site/old_thing-1.0.egg-info", "Name: deepspeed\nVersion: 0.15.4\n")
			m.write("site/broken-.dist-info/METADATA", "")
			m.write("site/nameless.dist-info/METADATA", "\xff\xfe")
		}, func(m machine) Options { return Options{Python: m.path("site")} },
			map[string]any{"xformers": "0.0.28", "deepspeed": "0.15.4", "python": unknownFact}},
		{"versions that torch itself states", func(m machine) {
			m.venv("venv", "")
			m.dist("venv/"+site, "torch", "2.11.0")
			m.write("venv/"+site+"/torch/version.py", "from typing import Optional\n\n__version__ = '2.11.0+cu130'\ndebug = False\ncuda: Optional[str] = '13.0'\n")
		}, func(m machine) Options { return Options{Python: m.path("venv/bin/python3")} },
			map[string]any{"torch": "2.11.0+cu130", "cuda": "13.0"}},
		{"nothing there", func(machine) {}, func(m machine) Options { return Options{Python: m.path("nowhere")} },
			map[string]any{"torch": unknownFact, "python": unknownFact}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			host := newMachine(t)
			test.prepare(host)
			options := test.options(host)
			options.Base, options.Root, options.Timeout = base(t), host.root, time.Minute
			if options.Env == nil {
				options.Env = []string{"PATH="}
			}
			expect(t, values(Read(context.Background(), options), options.Base), test.want)
		})
	}
}

// All distributions of a real environment are read, the metadata being where pip puts it.
func TestRealPackages(t *testing.T) {
	names, err := os.ReadFile("../../testdata/live/h200-580/dist-info-names.txt")
	if err != nil {
		t.Fatal(err)
	}
	host := newMachine(t)
	entries := strings.Fields(string(names))
	for _, entry := range entries {
		name, version, _ := strings.Cut(strings.TrimSuffix(entry, ".dist-info"), "-")
		host.write("site/"+entry+"/METADATA", "Metadata-Version: 2.1\nName: "+strings.ReplaceAll(name, "_", "-")+"\nVersion: "+version+"\n")
	}
	host.tool("ldconfig", "cat "+abs(t, "../../testdata/live/h200-580/ldconfig-p.txt"))
	b := base(t)
	m := Read(context.Background(), Options{Base: b, Root: host.root, Python: host.path("site"), Env: []string{"PATH=" + host.path("bin") + ":/bin"}})
	if len(m.Python.Packages) != len(entries) {
		t.Errorf("%d packages of %d", len(m.Python.Packages), len(entries))
	}
	expect(t, values(m, b), map[string]any{"torch": "2.11.0", "triton": "3.6.0", "jax": "0.11.2", "transformers": "5.17.0", "cudnn": "9.19.0.56",
		"nccl": "2.28.9", "flash_attn": nil, "transformer_engine": nil})
}

func abs(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// The classic trap: PyTorch came with one cuDNN, and the loader knows another.
func TestTwoCuDNNs(t *testing.T) {
	host := newMachine(t)
	host.dist("site", "nvidia-cudnn-cu12", "9.1.0.70")
	host.write("site/nvidia/cudnn/lib/libcudnn.so.9", "")
	host.write("usr/lib/libcudnn.so.9.8.0", "")
	os.Symlink("libcudnn.so.9.8.0", host.path("usr/lib/libcudnn.so.9"))
	host.write("old/libcudnn.so.8.9.7", "")
	host.tool("ldconfig", "echo '	libcudnn.so.9 (libc6,x86-64) => /usr/lib/libcudnn.so.9'")
	b := base(t)
	m := Read(context.Background(), Options{Base: b, Root: host.root, Python: host.path("site"),
		Env: []string{"PATH=" + host.path("bin") + ":/bin", "LD_LIBRARY_PATH=/nowhere:" + host.path("old")}})
	expect(t, values(m, b), map[string]any{"cudnn": "9.1.0.70", "cudnn_copies": []any{"9.1.0.70", "8.9.7", "9.8.0"}})

	withoutWheel := Read(context.Background(), Options{Base: b, Root: host.root, Python: host.path("nowhere"), Env: []string{"PATH=" + host.path("bin") + ":/bin"}})
	expect(t, values(withoutWheel, b), map[string]any{"cudnn": "9.8.0"})
}

// fatbin makes a container of device code: kind and architecture of each entry.
func fatbin(entries ...[2]uint32) []byte {
	var body []byte
	for _, e := range entries {
		header := make([]byte, 64)
		binary.LittleEndian.PutUint16(header, uint16(e[0]))
		binary.LittleEndian.PutUint32(header[4:], 64)
		binary.LittleEndian.PutUint64(header[8:], 24)
		binary.LittleEndian.PutUint32(header[28:], e[1])
		body = append(append(body, header...), make([]byte, 24)...)
	}
	head := make([]byte, 16)
	binary.LittleEndian.PutUint32(head, fatMagic)
	binary.LittleEndian.PutUint16(head[4:], 1)
	binary.LittleEndian.PutUint16(head[6:], 16)
	binary.LittleEndian.PutUint64(head[8:], uint64(len(body)))
	return append(head, body...)
}

func TestDeviceCode(t *testing.T) {
	section := slices.Concat(fatbin([2]uint32{kindCubin, 80}, [2]uint32{kindCubin, 90}), make([]byte, 40), fatbin([2]uint32{kindPTX, 90}, [2]uint32{7, 75}))
	found := map[string]bool{}
	if err := scanFatbins(bytes.NewReader(section), int64(len(section)), found); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{"sm_80": true, "sm_90": true, "compute_90": true}, found); diff != "" {
		t.Error(diff)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := architectures(self); err == nil || !strings.Contains(err.Error(), "holds no device code") {
		t.Errorf("%v", err)
	}
}

// Whatever a file claims to be, reading it ends.
func FuzzDeviceCode(f *testing.F) {
	f.Add(fatbin([2]uint32{kindCubin, 80}, [2]uint32{kindPTX, 90}))
	f.Add(bytes.Repeat([]byte{0x50, 0xed, 0x55, 0xba, 1, 0, 0, 0}, 10))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_ = scanFatbins(bytes.NewReader(data), int64(len(data)), map[string]bool{})
	})
}

func FuzzSMI(f *testing.F) {
	for _, folder := range []string{"a100-mig-470", "rtx4090-535", "b200-570"} {
		data, err := os.ReadFile("../../testdata/live/" + folder + "/q-x.xml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	vocabulary := base(f).Vocabulary
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &Machine{Source: fromHere}
		m.Driver, m.CUDA, m.GPUs, _ = parseSMI(data)
		m.Facts(vocabulary)
	})
}

func TestFits(t *testing.T) {
	for _, test := range []struct {
		archs string
		sm    int
		want  bool
	}{{"sm_80 sm_90", 90, true}, {"sm_80", 86, true}, {"sm_86", 80, false}, {"sm_80 sm_90", 120, false}, {"sm_80 compute_90", 120, true},
		{"sm_90 compute_90", 70, false}, {"sm_100", 103, true}, {"sm_100", 120, false}} {
		if got := fits(strings.Fields(test.archs), test.sm); got != test.want {
			t.Errorf("code for %s on sm_%d: %v", test.archs, test.sm, got)
		}
	}
}

func TestWhence(t *testing.T) {
	host := newMachine(t)
	host.smi("h200-580")
	host.write("proc/stat", "btime 1700000000\n")
	m := host.read()
	m.Host = "gpu7.cluster.local"
	host.write("site-packages/torch/cuda.py", "import x\n\n    raise Wrong()\n")
	here := traceback.Frame{File: host.path("site-packages/torch/cuda.py"), Line: 3, Code: "raise Wrong()"}
	changed := traceback.Frame{File: here.File, Line: 2, Code: "raise Wrong()"}
	gone := traceback.Frame{File: "/opt/other/site-packages/torch/cuda.py", Line: 3, Code: "raise Wrong()"}
	gpu := func(name string) map[string]facts.Fact {
		value, err := base(t).Vocabulary.Parse("gpu", name)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]facts.Fact{"gpu": {Name: "gpu", Value: value}}
	}
	tests := []struct {
		name string
		log  facts.LogOrigin
		want Origin
		why  string
	}{
		{"nothing said", facts.LogOrigin{}, Undecided, ""},
		{"its files", facts.LogOrigin{Library: []traceback.Frame{gone, here}}, Here, "through files of this machine"},
		{"other files", facts.LogOrigin{Library: []traceback.Frame{gone}}, Elsewhere, "this machine has no /opt/other"},
		{"another version of them", facts.LogOrigin{Library: []traceback.Frame{changed}}, Elsewhere, "as the log shows it"},
		{"its host, by the short name", facts.LogOrigin{Hosts: []string{"gpu6", "gpu7"}}, Here, "names this host"},
		{"another host", facts.LogOrigin{Hosts: []string{"gpu70"}, Library: []traceback.Frame{here}}, Elsewhere, "the log is from gpu70"},
		{"older than the boot", facts.LogOrigin{Last: time.Unix(1600000000, 0)}, Elsewhere, "was booted at"},
		{"the same GPU under another name", facts.LogOrigin{Facts: gpu("H200")}, Undecided, ""},
		{"another GPU", facts.LogOrigin{Facts: gpu("NVIDIA A100-SXM4-80GB")}, Elsewhere, "the log is about NVIDIA A100-SXM4-80GB"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, why := m.OriginOf(test.log)
			if got != test.want || !strings.Contains(why, test.why) {
				t.Errorf("%v %q, want %v %q", got, why, test.want, test.why)
			}
		})
	}
}

// What was before the job is not the job's, and who has left meanwhile is still told.
func TestThen(t *testing.T) {
	used := func(mib float64) GPU { return GPU{UUID: "GPU-1", Memory: Memory{UsedMiB: &mib}} }
	hundred := 102400.0
	before := &Machine{GPUs: []GPU{used(hundred)}, Xids: []Xid{{Code: 31, Text: "a", Time: time.Unix(100, 0)}}}
	before.GPUs[0].Processes = []Process{{PID: 9, Name: "other", MemoryMiB: &hundred}}
	after := &Machine{GPUs: []GPU{used(0)}, Xids: []Xid{{Code: 31, Text: "a", Time: time.Unix(100, 0)}, {Code: 79, Text: "b", Time: time.Unix(200, 0)}}}
	joined := before.Then(after)
	if len(joined.Xids) != 1 || joined.Xids[0].Code != 79 {
		t.Errorf("%+v", joined.Xids)
	}
	if *joined.GPUs[0].Memory.UsedMiB != hundred || len(joined.GPUs[0].Processes) != 1 {
		t.Errorf("%+v", joined.GPUs)
	}
	if len(after.Xids) != 2 || *after.GPUs[0].Memory.UsedMiB != 0 {
		t.Error("what came after was changed itself")
	}
}
