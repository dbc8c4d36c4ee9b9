package main

import (
	"io"
	"testing"
	"time"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	pods := func(counted ...time.Duration) (list []pod) {
		for _, c := range counted {
			list = append(list, pod{name: "clock", own: 100 * time.Second, counted: c})
		}
		return list
	}
	const second = time.Second
	for name, tt := range map[string]struct {
		pods []pod
		ok   bool
	}{
		"no pods":                       {nil, false},
		"exact":                         {pods(100*second, 100*second), true},
		"errors that cancel out":        {pods(99*second, 101*second), true},
		"a pod more than a second off":  {pods(100*second, 98900*time.Millisecond, 101*second), false},
		"a pod that was not counted":    {pods(100*second, 0), false},
		"all pods off by little":        {pods(100600*time.Millisecond, 100600*time.Millisecond), false},
		"all pods off by less than 0.5": {pods(100400*time.Millisecond, 99600*time.Millisecond, 100400*time.Millisecond), true},
	} {
		if err := compare(io.Discard, tt.pods, wholeSeconds); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
