package budgets

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Sample is the usage of a budget at a time.
type Sample = meter.Sample

// RecordedUsage is the usage of a budget as of the last run.
type RecordedUsage struct {
	LiveUsage
	// Course is the usage in the last 35 days, and until the limit is reached or the usage recovers.
	Course []Sample
}

// Recorded measures a budget by the ledger, as of the last run. The cluster is not observed, and
// nothing is written. Overlaps are unknown.
func (f *Flow) Recorded(ctx context.Context, name string) (r RecordedUsage, err error) {
	d, err := f.Find(ctx, name)
	if err != nil {
		return r, err
	}
	d = d.WithDefaults()
	l := &inquiry{flow: f, declared: d, declaration: d}
	if l.Books, err = f.accountant().Recorded(ctx, d.ClusterUID); err != nil {
		return r, err
	}
	l.at = l.Now()
	if r.LiveUsage, err = l.answer(ctx, Question{Budget: name}); err != nil {
		return r, err
	}
	r.Course, err = meter.Course(d, l.Ledger().All(), l.at, l.courseTimes(r.LiveUsage), time.LoadLocation)
	return r, err
}

// The distances of the samples of a course: of the last day, and of the days before.
const (
	recentSample = 15 * time.Minute
	earlySample  = 3 * time.Hour
	// The most samples of the last day, and of the forecast.
	recentSamples, futureSamples = 96, 48
)

// courseTimes are the times of the samples. They begin with the ledger. They end when the limit is reached or
// the usage recovers, or after a day.
func (l *inquiry) courseTimes(live LiveUsage) (times []time.Time) {
	first := l.at.Add(-DefaultKeepLedger)
	if known := l.Ledger().Header.KnownSince(); known > ledger.TimeOf(first) {
		first = known.Time()
	}
	recent := l.at.Add(-24 * time.Hour)
	if recent.Before(first) {
		recent = first
	}
	for at := first; at.Before(recent); at = at.Add(earlySample) {
		times = append(times, at)
	}
	distance := max(time.Second, min(recentSample, l.at.Sub(recent)/recentSamples))
	for at := recent; at.Before(l.at); at = at.Add(distance) {
		times = append(times, at)
	}
	times = append(times, l.at)
	end := l.at.Add(24 * time.Hour)
	for _, at := range []*time.Time{live.Usage.ProjectedExhaustion, live.Usage.RecoversAt} {
		if at != nil && at.After(l.at) {
			end = *at
		}
	}
	if last := l.at.Add(DefaultKeepLedger); end.After(last) {
		end = last
	}
	distance = max(time.Second, end.Sub(l.at)/futureSamples)
	for at := l.at.Add(distance); at.Before(end); at = at.Add(distance) {
		times = append(times, at)
	}
	// After the end, usage falls, or a period begins.
	return append(times, end, end.Add(time.Second), end.Add(max(2*time.Second, end.Sub(l.at)/20)))
}
