package live

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"
)

// The architectures are those that PyTorch says it was built for, not those that some of its kernels have code for.
func TestTorchArchitectures(t *testing.T) {
	const flags = "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120 compute_120"
	host := newMachine(t)
	host.dist("site", "torch", "2.11.0")
	host.write("site/torch/lib/libtorch_python.so", strings.Repeat("code \x00sm_80\x00", 400_000)+"get_arch\x00"+flags+"\x00more")
	m := Read(context.Background(), Options{Base: base(t), Root: host.root, Python: host.path("site"), Env: []string{"PATH=/nowhere"}})
	want := []any{}
	for _, arch := range strings.Fields(flags) {
		want = append(want, arch)
	}
	expect(t, values(m, base(t)), map[string]any{"torch_archs": want})
}

// sharedObject is an ELF file whose dynamic section has that tag with a path.
func sharedObject(tag elf.DynTag) string {
	text := "\x00$ORIGIN/../../nvidia/nccl/lib\x00"
	var b strings.Builder
	write := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	const head, section = 64, 64
	dynamic := uint64(head)
	texts := dynamic + 32
	sections := (texts + uint64(len(text)) + 7) / 8 * 8
	write(elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: sections,
		Ehsize: head, Shentsize: section, Shnum: 3, Shstrndx: 2})
	write([]uint64{uint64(tag), 1, 0, 0})
	b.WriteString(text + strings.Repeat("\x00", int(sections-texts)-len(text)))
	write(elf.Section64{})
	write(elf.Section64{Type: uint32(elf.SHT_DYNAMIC), Off: dynamic, Size: 32, Link: 2, Entsize: 16})
	write(elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: texts, Size: uint64(len(text))})
	return b.String()
}

// LD_LIBRARY_PATH goes before the wheel, unless the file that loads the library has a path of its own that goes before it.
func TestLibraryThatIsLoaded(t *testing.T) {
	for name, test := range map[string]struct {
		tag         elf.DynTag
		cudnn, nccl string
	}{
		"the wheel's path goes before": {elf.DT_RPATH, "9.14.0", "2.28.9"},
		"the wheel's path goes after":  {elf.DT_RUNPATH, "9.14.0", "2.27.3"},
	} {
		t.Run(name, func(t *testing.T) {
			host := newMachine(t)
			host.dist("site", "torch", "2.11.0")
			host.dist("site", "nvidia-cudnn-cu13", "9.19.0.56")
			host.dist("site", "nvidia-nccl-cu13", "2.28.9")
			host.write("site/torch/lib/libtorch_cuda.so", sharedObject(test.tag))
			host.write("site/nvidia/cudnn/lib/libcudnn.so.9", "")
			host.write("site/nvidia/nccl/lib/libnccl.so.2", "")
			host.write("lib/libcudnn.so.9.14.0", "")
			host.link("lib/libcudnn.so.9", "libcudnn.so.9.14.0")
			host.write("lib/libnccl.so.2.27.3", "")
			host.link("lib/libnccl.so.2", "libnccl.so.2.27.3")
			m := Read(context.Background(), Options{Base: base(t), Root: host.root, Python: host.path("site"),
				Env: []string{"PATH=/nowhere", "LD_LIBRARY_PATH=" + host.path("lib")}})
			expect(t, values(m, base(t)), map[string]any{"cudnn": test.cudnn, "nccl": test.nccl})
		})
	}
}

// nvcc is CUDA_HOME's, before the one in PATH.
func TestCompiler(t *testing.T) {
	host := newMachine(t)
	says := func(version string) string {
		return "echo 'nvcc: NVIDIA (R) Cuda compiler driver'; echo 'Cuda compilation tools, release " + version[:4] + ", V" + version + "'"
	}
	host.tool("nvcc", says("12.8.93"))
	expect(t, values(host.read(), base(t)), map[string]any{"nvcc": "12.8.93"})
	host.tool("../cuda/bin/nvcc", says("13.0.88"))
	expect(t, values(host.read("CUDA_HOME="+host.path("cuda")), base(t)), map[string]any{"nvcc": "13.0.88"})
	host.tool("nvcc", "exit 3")
	if m := host.read(); failure(m, "nvcc") == "" {
		t.Error("a compiler that fails is not told of")
	}
}
