package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"
)

// limits are the largest errors of the usage, for all pods together and for each.
type limits struct {
	ratio float64
	pod   time.Duration
}

var (
	wholeSeconds = limits{ratio: 0.005, pod: time.Second}
	// The kubelet's seconds differ by up to one, and by what the runtime takes to start and end a container.
	withFractions = limits{ratio: 0.01, pod: 1250 * time.Millisecond}
)

// measured is one clock, compared with those of the containers.
type measured struct {
	sum, errors time.Duration
	ratio       float64
	worst       pod
	worstOff    time.Duration // counted minus true
}

func measure(pods []pod, clock func(pod) time.Duration) measured {
	var m measured
	var truth time.Duration
	for _, p := range pods {
		off := clock(p) - p.own
		truth += p.own
		m.sum += clock(p)
		m.errors += off.Abs()
		if off.Abs() >= m.worstOff.Abs() {
			m.worst, m.worstOff = p, off
		}
	}
	m.ratio = m.sum.Seconds() / truth.Seconds()
	return m
}

func (m measured) row(name string, pods int) string {
	return fmt.Sprintf("| %s\t| %.1f s\t| %.4f\t| %.2f s\t| %s, %+.2f s\t|", name, m.sum.Seconds(), m.ratio, m.errors.Seconds()/float64(pods), m.worst.name,
		m.worstOff.Seconds())
}

// compare prints the pods, and the sums by each clock. It fails if gpupool's are too far from those of
// the containers.
func compare(out io.Writer, pods []pod, allowed limits) error {
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| pod\t| own clock\t| kubelet\t| gpupool\t| end from\t|")
	for _, p := range pods {
		fmt.Fprintf(w, "| %s\t| %.3f s\t| %.0f s\t| %.3f s\t| %s\t|\n", p.name, p.own.Seconds(), p.kubelet.Seconds(), p.counted.Seconds(), p.source)
	}
	own := measure(pods, func(p pod) time.Duration { return p.own })
	counted := measure(pods, func(p pod) time.Duration { return p.counted })
	fmt.Fprintf(w, "\n| %d pods, by\t| GPU time\t| / true\t| error a pod\t| worst pod\t|\n", len(pods))
	fmt.Fprintf(w, "| the containers' own clocks\t| %.1f s\t| 1\t| 0\t|\t|\n", own.sum.Seconds())
	kubelet := measure(pods, func(p pod) time.Duration { return p.kubelet })
	fmt.Fprintln(w, kubelet.row("the kubelet's whole seconds", len(pods)))
	fmt.Fprintln(w, counted.row("gpupool usage", len(pods)))
	err := w.Flush()
	if len(pods) == 0 || math.Abs(counted.ratio-1) > allowed.ratio {
		err = errors.Join(err, fmt.Errorf("gpupool counted %.4f of the true GPU time: at most %.3f off is allowed. "+
			"The kubelet has %.4f: if that is off too, try again on an idle machine", counted.ratio, allowed.ratio, kubelet.ratio))
	}
	if counted.worstOff.Abs() > allowed.pod {
		err = errors.Join(err, fmt.Errorf("gpupool counted %.3f s for pod %s, which ran %.3f s: at most %s off is allowed", counted.worst.counted.Seconds(),
			counted.worst.name, counted.worst.own.Seconds(), allowed.pod))
	}
	return err
}
