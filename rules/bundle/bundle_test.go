package bundle

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"aead.dev/minisign"
	"github.com/google/go-cmp/cmp"

	"github.com/gpu-triage/triage/rules"
)

// later is a knowledge base of that version and form, with one failure.
func later(version, format string) fs.FS {
	return fstest.MapFS{
		rules.KnowledgeFile: {Data: []byte("version: " + version + "\nformat: " + format + "\n")},
		"facts.yaml":        {Data: []byte("facts: []\n")},
		"failures/odd.yaml": {Data: []byte("id: odd\ntitle: Odd\nkeywords: [something odd]\nmatch: [text contains \"something odd\"]\n" +
			"cause: It is odd.\nfixes: [{do: Look again.}]\nreferences: [https://example.org]\n")},
		"failures/notes.txt": {Data: []byte("no rule")},
	}
}

// What is shipped can be packed as it lies in the repository, and a program that reads the bundle knows the same.
func TestShippedKnowledgeAsABundle(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads all rules")
	}
	public, private := keys(t)
	content := pack(t, os.DirFS(".."))
	b, err := Verified(content, sign(t, content, private), public)
	if err != nil {
		t.Fatal(err)
	}
	bundled, err := rules.Open(b.Files)
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	if bundled.Version() != shipped.Version() || len(bundled.Entries) != len(shipped.Entries) {
		t.Errorf("%s with %d signatures, not %s with %d", bundled.Version(), len(bundled.Entries), shipped.Version(), len(shipped.Entries))
	}
	for i, e := range bundled.Entries {
		if e.ID != shipped.Entries[i].ID || e.Signature().Title != shipped.Entries[i].Signature().Title {
			t.Errorf("%s is not %s", e.ID, shipped.Entries[i].ID)
		}
	}
	if again := pack(t, os.DirFS("..")); string(again) != string(content) {
		t.Error("the same files make other bytes")
	}
}

func keys(t *testing.T) (minisign.PublicKey, []byte) {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := private.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return public, text
}

func sign(t *testing.T, content, private []byte) []byte {
	t.Helper()
	signature, err := Sign(content, private, "")
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

func pack(t *testing.T, files fs.FS) []byte {
	t.Helper()
	content, err := Pack(files)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestBundleIsUsedAndRolledBack(t *testing.T) {
	public, private := keys(t)
	store := Store{Dir: filepath.Join(t.TempDir(), "not", "yet")}
	shipped, err := rules.ReadKnowledge(rules.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := store.Current(); b != nil || err != nil {
		t.Fatalf("an empty store has %v, %v", b, err)
	}
	for _, step := range []struct{ version, before string }{{"2090.01.01", shipped.Version}, {"2090.01.02", "2090.01.01"}} {
		content := pack(t, later(step.version, "1"))
		b, err := Verified(content, sign(t, content, private), public)
		if err != nil {
			t.Fatal(err)
		}
		if before, err := store.Install(b); err != nil || before != step.before {
			t.Fatalf("before %s it was %s, %v", step.version, before, err)
		}
		if _, err := store.Install(b); !errors.Is(err, ErrNotNewer) {
			t.Errorf("the same again: %v", err)
		}
	}
	current, err := store.Current()
	if err != nil || current.Version != "2090.01.02" {
		t.Fatalf("%v, %v", current, err)
	}
	base, err := rules.Open(current.Files)
	if err != nil || base.Version() != "2090.01.02" || base.Signature("odd") == nil {
		t.Fatal(base, err)
	}
	for _, want := range [][2]string{{"2090.01.02", "2090.01.01"}, {"2090.01.01", shipped.Version}, {"", shipped.Version}} {
		removed, now, err := store.RollBack()
		if diff := cmp.Diff(want, [2]string{removed, now}); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
}

func TestVerifiedRefuses(t *testing.T) {
	public, private := keys(t)
	other, _ := keys(t)
	good := pack(t, later("2090.01.01", "1"))
	changed := append([]byte{}, good...)
	changed[len(changed)/2] ^= 1
	flavoured := pack(t, fstest.MapFS{
		rules.KnowledgeFile: {Data: []byte("version: 2090.01.01\nformat: 1\n")},
		"facts.yaml":        {Data: []byte("facts: []\n")},
		"failures/new.yaml": {Data: []byte("id: new\nflavour: sweet\n")},
	})
	for name, test := range map[string]struct {
		content, signature []byte
		key                minisign.PublicKey
		want               string
	}{
		"changed":       {changed, sign(t, good, private), public, "does not fit"},
		"not signed":    {good, nil, public, "does not fit"},
		"another's":     {good, sign(t, good, private), other, "does not fit"},
		"no zip":        {[]byte("text"), sign(t, []byte("text"), private), public, "no bundle"},
		"an odd member": {flavoured, sign(t, flavoured, private), public, "cannot be read by this program"},
	} {
		if _, err := Verified(test.content, test.signature, test.key); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, not %q", name, err, test.want)
		}
	}
	if ours, err := Key(""); err != nil || minisign.Verify(ours, good, sign(t, good, private)) {
		t.Errorf("the key of the released knowledge: %v", err)
	}
	if _, err := Key("not a key"); err == nil {
		t.Error("a text is a key")
	}
}

// place puts a bundle into the store, as another program would.
func place(t *testing.T, store Store, version string, files fs.FS) {
	t.Helper()
	content, err := packAll(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store.file(version), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTooNewIsPassedOver(t *testing.T) {
	if _, err := Pack(later("2090.01.01", "99")); !errors.Is(err, rules.ErrTooNew) {
		t.Errorf("%v", err)
	}
	// A newer program that shares the folder has installed what this one cannot read, and before that what it can.
	store := Store{Dir: t.TempDir()}
	place(t, store, "2090.01.02", later("2090.01.02", "99"))
	place(t, store, "2090.01.01", later("2090.01.01", "1"))
	if b, err := store.Current(); err != nil || b == nil || b.Version != "2090.01.01" {
		t.Errorf("%v, %v", b, err)
	}
	if err := os.WriteFile(store.file("2090.01.03"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Current(); err == nil || !strings.Contains(err.Error(), "--roll-back") {
		t.Errorf("a damaged bundle: %v", err)
	}
	if removed, now, err := store.RollBack(); err != nil || removed != "2090.01.03" || now != "2090.01.01" {
		t.Error(removed, now, err)
	}
}

func TestOlderThanShippedIsNotUsed(t *testing.T) {
	store := Store{Dir: t.TempDir()}
	place(t, store, "2020.01.01", later("2020.01.01", "1"))
	if b, err := store.Current(); b != nil || err != nil {
		t.Errorf("%v, %v", b, err)
	}
}
