package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

type file struct{ name, content string }

func gz(content string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	io.WriteString(w, content)
	w.Close()
	return out.String()
}

func zst(content string) string {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err != nil {
		panic(err)
	}
	io.WriteString(w, content)
	w.Close()
	return out.String()
}

func tarball(files ...file) string {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "dir/"})
	w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "/etc/passwd"})
	for _, f := range files {
		w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.content)), Mode: 0o644})
		io.WriteString(w, f.content)
	}
	w.Close()
	return out.String()
}

func packed(files ...file) string {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		entry, err := w.Create(f.name)
		if err != nil {
			panic(err)
		}
		io.WriteString(entry, f.content)
	}
	w.Close()
	return out.String()
}

// read returns every log in content as name=text, read from a pipe and from a file, which must agree.
func read(t *testing.T, content string, limits Limits) ([]string, error) {
	t.Helper()
	collect := func(r io.Reader) (logs []string, err error) {
		err = Each("in", r, limits, func(name string, log io.Reader) error {
			text, err := io.ReadAll(log)
			logs = append(logs, name+"="+string(text))
			return err
		})
		return logs, err
	}
	piped, pipedErr := collect(io.MultiReader(strings.NewReader(content)))
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	opened, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	named, namedErr := collect(opened)
	if diff := cmp.Diff(piped, named); diff != "" || fmt.Sprint(pipedErr) != fmt.Sprint(namedErr) {
		t.Errorf("pipe and file differ: %v, %v\n%s", pipedErr, namedErr, diff)
	}
	return piped, pipedErr
}

func TestEach(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		want    []string
	}{
		"plain":         {"a\nb\n", []string{"in=a\nb\n"}},
		"empty":         {"", []string{"in="}},
		"short":         {"\x1f", []string{"in=\x1f"}},
		"gzip":          {gz("a\n"), []string{"in=a\n"}},
		"gzip, joined":  {gz("a\n") + gz("b\n"), []string{"in=a\nb\n"}},
		"zstd":          {zst("a\n"), []string{"in=a\n"}},
		"tar":           {tarball(file{"0.log", "a"}, file{"dir/1.log", ""}), []string{"in/0.log=a", "in/dir/1.log="}},
		"tar.gz":        {gz(tarball(file{"0.log", "a"})), []string{"in/0.log=a"}},
		"tar.zst":       {zst(tarball(file{"0.log", "a"})), []string{"in/0.log=a"}},
		"zip":           {packed(file{"0.log", "a"}, file{"d/", ""}, file{"d/1.log", "b"}), []string{"in/0.log=a", "in/d/1.log=b"}},
		"empty zip":     {packed(), nil},
		"Windows' zip":  {packed(file{`d\1.log`, "b"}), []string{"in/d/1.log=b"}},
		"zip in zip":    {packed(file{"z.zip", packed(file{"0.log", "a"})}), []string{"in/z.zip/0.log=a"}},
		"gzips in tar":  {tarball(file{"0.gz", gz("a")}, file{"1.gz", gz("b")}), []string{"in/0.gz=a", "in/1.gz=b"}},
		"gzip, printed": {"BZ is no mark\n", []string{"in=BZ is no mark\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(t, test.content, DefaultLimits)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestEachRefuses(t *testing.T) {
	strict := DefaultLimits
	strict.Free = 1 << 20
	small := Limits{Bytes: 1 << 20, Ratio: 200, Free: 1 << 20, Entries: 5, Depth: 3, Held: 4 << 10}
	nested := "a"
	for range 4 {
		nested = gz(nested)
	}
	for name, test := range map[string]struct {
		content string
		limits  Limits
		limit   bool
		want    string
	}{
		"gzip bomb":           {gz(strings.Repeat("0", 2<<20)), strict, true, "in: refused: unpacks to more than 200 times its size"},
		"zstd bomb":           {zst(strings.Repeat("0", 2<<20)), strict, true, "in: refused: unpacks to more than 200 times its size"},
		"zip bomb":            {packed(file{"a", strings.Repeat("0", 2<<20)}), strict, true, "in/a: refused: unpacks to more than 200 times its size"},
		"much in all":         {tarball(file{"a", gz(strings.Repeat("ab", 400<<10))}, file{"b", gz(strings.Repeat("cd", 400<<10))}), small, true, "in/b: refused: unpacks to more than 1 MiB"},
		"many files":          {tarball(file{"a", ""}, file{"b", ""}, file{"c", ""}, file{"d", ""}), small, true, "in: refused: more than 5 files"},
		"deep":                {nested, small, true, "in: refused: more than 3 archives inside one another"},
		"big zip inside":      {tarball(file{"z", packed(file{"a", gz(random(8 << 10))})}), small, true, "in/z: refused: a zip archive from a pipe or inside another is read up to 0 MiB"},
		"cut gzip":            {gz(random(4 << 10))[:2<<10], DefaultLimits, false, "in: ends too early"},
		"cut zstd":            {zst(random(4 << 10))[:2<<10], DefaultLimits, false, "in: ends too early"},
		"damaged gzip":        {strings.Replace(gz(random(4<<10)), "0", "1", 3), DefaultLimits, false, "in: damaged"},
		"header of gzip only": {"\x1f\x8b\x08", DefaultLimits, false, "in: "},
		"header of zip only":  {"PK\x03\x04", DefaultLimits, false, "in: zip: not a valid zip file"},
		"bzip2":               {"BZh91AY", DefaultLimits, false, "in: bzip2 is not read; unpack it and name the result"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, test.content, test.limits)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) || errors.Is(err, ErrLimit) != test.limit {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

// A file that is not packed is handed on as it is, so that several workers can read it at once.
// Entries that are no files cost time and memory as well, and an archive may state another number of them than it has.
func TestEntriesAreBounded(t *testing.T) {
	limits := Limits{Bytes: 1 << 30, Ratio: 200, Free: 1 << 30, Entries: 1000, Depth: 3, Held: 64 << 20}
	var folders bytes.Buffer
	w := tar.NewWriter(&folders)
	for i := range 1001 {
		w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: fmt.Sprintf("%d/", i)})
	}
	w.Close()
	var names []file
	for i := range 300_000 {
		names = append(names, file{fmt.Sprintf("%d/", i), ""})
	}
	many := []byte(packed(names...))
	end := bytes.LastIndex(many, []byte("PK\x05\x06"))
	binary.LittleEndian.PutUint16(many[end+8:], 1)
	binary.LittleEndian.PutUint16(many[end+10:], 1)
	for name, content := range map[string]string{"folders in tar": folders.String(), "folders in zip": packed(names[:1001]...), "a wrong number": string(many)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read(t, content, limits)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
		// The archive is held once, in growing slices; 300,000 entries of its directory would be far more. The race detector takes memory of its
		// own.
		if used := after.TotalAlloc - before.TotalAlloc; !testing.Short() && used > uint64(8*len(content))+1<<20 {
			t.Errorf("%s: %d bytes for an archive of %d", name, used, len(content))
		}
	}
	if _, err := read(t, packed(names[:1000]...), limits); err != nil {
		t.Errorf("as many as allowed: %v", err)
	}
}

func TestEachHandsOnFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("log"), 0o644); err != nil {
		t.Fatal(err)
	}
	opened, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	err = Each("in", opened, DefaultLimits, func(_ string, log io.Reader) error {
		if log != io.Reader(opened) {
			t.Errorf("got a %T", log)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// random returns text that does not compress away, the same each time.
func random(n int) string {
	state, out := uint32(1), make([]byte, n)
	for i := range out {
		state = state*1664525 + 1013904223
		out[i] = byte(state >> 24)
	}
	return string(out)
}

func FuzzEach(f *testing.F) {
	for _, seed := range []string{"a", gz("a"), zst("a"), tarball(file{"a", gz("b")}), packed(file{"a", zst("b")})} {
		f.Add([]byte(seed))
	}
	limits := Limits{Bytes: 1 << 20, Ratio: 200, Free: 1 << 19, Entries: 10, Depth: 3, Held: 1 << 20}
	f.Fuzz(func(t *testing.T, content []byte) {
		unpacked := int64(0)
		err := Each("in", bytes.NewReader(content), limits, func(_ string, log io.Reader) error {
			n, err := io.Copy(io.Discard, log)
			unpacked += n
			return err
		})
		if most := limits.Bytes + int64(len(content)) + 64<<10; err == nil && unpacked > most {
			t.Errorf("%d bytes out of %d", unpacked, len(content))
		}
	})
}
