package condition

import (
	"cmp"
	"strings"
	"testing"
)

// inOrder are versions from oldest to newest, equal ones on one line, as packaging 26.3 of Python sorts them: forms that packages have,
// and others that were made at random.
const inOrder = `
0.apostdev+A-b_c
0.a.post12dev
v0c2.post12.dev4+A-b_c
0 00.0
0.0.0.1.a-3+01
0.1.0b2_dev0+A-b_c
v0.1_pre_4+1.a.2
0.1.1rc10.post1-dev-2+cu12
0.1.1postdev+1.a.2
0.2.a.post1
0.2b2dev+cu12
0.2-beta3.post1.dev4+1.10
0.2-beta3-r4-dev-2+cu12
0.2.0preview_dev0+cu12
0.2preview-r4dev+A-b_c
0.2.1.2rc10dev+A-b_c
1.0dev
1.0_dev_4
1.0alpha
1.a.post1+A-b_c
1.0.0.a_rev5dev
1alpha_rev5_dev0+A-b_c
1.0a1.dev3
1.0a1.post2.dev3
1.0BETA2
1.0c1 1.0rc1
1.0.pre-2
1.0-preview_3
1.0
1.0+Ab-cd_ef 1.0+ab.cd.ef
1.0+1
1.0+1.a
1.0+1.2
1.0.POST
1.0-1
v1.0.0-3_dev0+A-b_c
v1-3+nv24.3
1.0-r4
1.0.1b2_rev5-dev-2+A-b_c
1.0.1-beta3+1.10
1.1rc10_dev0+nv24.3
1.1.2c2.post1+A-b_c
1.1.2.2.post1-dev-2+1.10
1.2.apost+1.a.2
1.2.0b2_rev5.dev4
1.2-beta3.post12dev+1.a.2
V1.2
1.2.1-beta3.post1_dev0+cu12
2.0rc10dev
v2rc10-3dev+1.10
2rc10.post12dev
v2.0
2.0.0.2a1postdev+nv24.3
2.0.2alphapost+1.10
2.0.2.2c2+A-b_c
2.1.a-dev-2
2.1.0.0-beta3.dev4+cu12
2.1.2_pre_4_rev5dev+1.10
v2.1.2.1_pre_4.post1.dev4
2.2alpha-3
v2.2_rev5-dev-2+A-b_c
2.4.0.dev0
2.4.0.dev0+abc
2.4 2.4.0.0
2.6.0a0+ecf3bae40a.nv25.01
2.6.0
2.7.4.post1+25.6
2.8.3
2.8.3+cu13
2.8.3.post1
2.8.4
4.0.0b8
4.0.0b24
9.10.2
9.10.2.21
1!0preview.post1.dev4+nv24.3
1!0.1c2.post1+A-b_c
1!0.1
1!1.0.1b2post.dev4+1.a.2
1!2.a.post12+1.a.2
1!2.0.1c2.post12
1!2.1.0.1.post1.dev4+1.10
`

func TestVersionOrder(t *testing.T) {
	type ranked struct {
		version Version
		rank    int
	}
	var all []ranked
	for rank, line := range strings.Split(strings.TrimSpace(inOrder), "\n") {
		for text := range strings.FieldsSeq(line) {
			all = append(all, ranked{mustVersion(t, text), rank})
		}
	}
	for _, a := range all {
		for _, b := range all {
			if got, want := cmp.Compare(a.version.Compare(b.version), 0), cmp.Compare(a.rank, b.rank); got != want {
				t.Errorf("%s against %s: %d, packaging says %d", a.version, b.version, got, want)
			}
		}
	}
}

func TestNoVersions(t *testing.T) {
	for _, text := range []string{"", "a", "v", "1.0.x", "1.0..1", "1-2-3", "1 .0", "1,0", "==1.0", "1!2!3", "1.0a1b1", "1.0.dev1.post1", "1.0+", "1.0+-a",
		"1.0+a..b", strings.Repeat("1", 200), "1234567890123456789012"} {
		if v, err := ParseVersion(text); err == nil {
			t.Errorf("%q is taken for the version %s", text, v)
		}
	}
}

func TestVersionParts(t *testing.T) {
	for text, want := range map[string]string{"2.8.3+cu13": "2.8.3 2.8.3 2.8.3", "2.7.4.post1+25.6": "2.7.4 2.7.4.post1 2.7.4", "9.10.2.21": "9.10.2.21 9.10.2.21 9.10.2", "9.8": "9.8 9.8 9.8"} {
		v := mustVersion(t, text)
		if got := strings.Join([]string{v.Release().String(), v.public().String(), v.Truncate(3).String()}, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func mustVersion(t *testing.T, text string) Version {
	t.Helper()
	v, err := ParseVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
