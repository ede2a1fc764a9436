package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/rules/condition"
)

// client asks a package index.
type client struct {
	index string // the address of its simple interface, without a slash at its end
	http  *http.Client
}

// file is one archive that the index has.
type file struct {
	Filename       string    `json:"filename"`
	URL            string    `json:"url"`
	Size           int64     `json:"size"`
	RequiresPython string    `json:"requires-python"`
	Uploaded       time.Time `json:"upload-time"`
	Yanked         any       `json:"yanked"` // false, true or the reason
}

// release is one version of a package with its archives.
type release struct {
	version string
	date    time.Time
	files   []file
}

// releases are the versions of a package that are neither pre-releases nor yanked, oldest version first.
func (c *client) releases(ctx context.Context, name string) ([]release, error) {
	body, err := c.get(ctx, c.index+"/"+normal(name)+"/", "", "application/vnd.pypi.simple.v1+json")
	if err != nil {
		return nil, err
	}
	var page struct {
		Files []file `json:"files"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, fmt.Errorf("the index's page of %s: %w; an index that speaks JSON (PEP 691) is needed", name, err)
	}
	found := make(map[string]*release)
	for _, f := range page.Files {
		version := f.version(name)
		if yanked, no := f.Yanked.(bool); version == "" || !isFinal(version) || !no || yanked {
			continue
		}
		r := found[version]
		if r == nil {
			r = &release{version: version, date: f.Uploaded}
			found[version] = r
		}
		if f.Uploaded.Before(r.date) {
			r.date = f.Uploaded
		}
		r.files = append(r.files, f)
	}
	var all []release
	for _, r := range found {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b release) int { return compareVersions(a.version, b.version) })
	return all, nil
}

// get reads an address, or the bytes of it that a range names.
func (c *client) get(ctx context.Context, url, bytes, accept string) ([]byte, error) {
	var body []byte
	var err error
	for try := range 4 {
		body, err = c.try(ctx, url, bytes, accept)
		if err == nil || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Duration(try*try) * time.Second)
	}
	return body, err
}

func (c *client) try(ctx context.Context, url, bytes, accept string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	want := http.StatusOK
	if bytes != "" {
		request.Header.Set("Range", "bytes="+bytes)
		want = http.StatusPartialContent
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != want {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}

var separators = regexp.MustCompile(`[-_.]+`)

// normal is a distribution's name as the index spells it.
func normal(name string) string { return strings.ToLower(separators.ReplaceAllString(name, "-")) }

// version is the version in an archive's name, "" when it is of another kind.
func (f file) version(name string) string {
	if stem, ok := strings.CutSuffix(f.Filename, ".whl"); ok {
		if parts := strings.Split(stem, "-"); len(parts) >= 5 {
			return parts[1]
		}
		return ""
	}
	for _, suffix := range []string{".tar.gz", ".zip", ".tar.bz2"} {
		stem, ok := strings.CutSuffix(f.Filename, suffix)
		if ok && len(stem) > len(name)+1 && normal(stem[:len(name)]) == normal(name) {
			return stem[len(name)+1:]
		}
	}
	return ""
}

var final = regexp.MustCompile(`^(\d+!)?\d+(\.\d+)*([.-]?post\d*|-\d+)?$`)

func isFinal(version string) bool { return final.MatchString(version) }

// best is the archive to read: a wheel for all machines, else one for Linux and the newest Python, else the source.
func (r release) best() file {
	return slices.MaxFunc(r.files, func(a, b file) int { return a.rank() - b.rank() })
}

var pythonTag = regexp.MustCompile(`-cp3(\d+)-`)

func (f file) rank() int {
	if !strings.HasSuffix(f.Filename, ".whl") {
		if strings.HasSuffix(f.Filename, ".tar.gz") {
			return 2
		}
		return 1
	}
	rank := 1000
	if strings.Contains(f.Filename, "py3") {
		rank += 500
	}
	if m := pythonTag.FindStringSubmatch(f.Filename); m != nil {
		minor, _ := strconv.Atoi(m[1])
		rank += 2 * minor
	}
	switch {
	case strings.HasSuffix(f.Filename, "-none-any.whl"):
		rank += 400
	case strings.Contains(f.Filename, "linux") && strings.Contains(f.Filename, "x86_64"):
		rank += 300
	case strings.Contains(f.Filename, "linux"):
		rank += 200
	}
	if strings.Contains(f.Filename, "cp2") || strings.Contains(f.Filename, "-py2-") || strings.Contains(f.Filename, "313t") || strings.Contains(f.Filename, "314t") {
		rank -= 450
	}
	return rank
}

// compareVersions orders as PEP 440 does; what is no version comes first.
func compareVersions(a, b string) int {
	x, _ := condition.ParseVersion(a)
	y, _ := condition.ParseVersion(b)
	return x.Compare(y)
}
