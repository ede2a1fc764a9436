package bots

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"

	"github.com/gpu-triage/triage/bots/queue"
)

// Reports are the reports that people were given a link to. They are kept for 30 days.
type Reports struct{ Store *queue.Store }

// ErrNoReport says that no report is kept under an id: it never was, or its 30 days are over.
var ErrNoReport = errors.New("no such report, or it is older than 30 days")

// ReportURL is the page of a report on a server that people reach at public; "" when they do not reach it.
func ReportURL(public, id string) string {
	if public == "" {
		return ""
	}
	return strings.TrimSuffix(public, "/") + "/reports/" + id
}

// Save keeps a report and returns its id. The id cannot be guessed, and is the same for the same answer to the same question, so that
// work done twice after a kill leaves one report.
func (r Reports) Save(ctx context.Context, question string, report report.Report) (id string, err error) {
	timeless := report
	timeless.Stats.ElapsedMS = 0
	said, err := json.Marshal(timeless)
	if err != nil {
		return "", err
	}
	id, err = r.Store.Seal(ctx, "report", question, string(said))
	if err != nil {
		return "", err
	}
	data, err := fitted(report, queue.MaxBytes)
	if err != nil {
		return "", err
	}
	return id, r.Store.Keep(ctx, id, data)
}

// Delete deletes a kept report, or returns ErrNoReport.
func (r Reports) Delete(ctx context.Context, id string) error {
	if !isID(id) {
		return ErrNoReport
	}
	err := r.Store.Forget(ctx, id)
	if errors.Is(err, queue.ErrNotKept) {
		return ErrNoReport
	}
	return err
}

func isID(id string) bool { return len(id) == 40 && strings.Trim(id, "0123456789abcdef") == "" }

// Get returns a kept report, or ErrNoReport.
func (r Reports) Get(ctx context.Context, id string) (report report.Report, err error) {
	if !isID(id) {
		return report, ErrNoReport
	}
	data, err := r.Store.Kept(ctx, id)
	if errors.Is(err, queue.ErrNotKept) {
		return report, ErrNoReport
	}
	if err != nil {
		return report, err
	}
	return report, json.Unmarshal(data, &report)
}
