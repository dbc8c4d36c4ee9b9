package reconcile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// sizeFlag is a flag that takes a size, such as 64MiB.
type sizeFlag int64

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30
	// smallestHistory leaves room for a day that is under way.
	smallestHistory sizeFlag = mebibyte
)

// Set reads a whole number of MiB or GiB.
func (s *sizeFlag) Set(text string) error {
	for suffix, unit := range map[string]int64{"MiB": mebibyte, "GiB": gibibyte} {
		number, ok := strings.CutSuffix(text, suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 32)
		if err == nil && n >= 0 {
			*s = sizeFlag(n * unit)
			return nil
		}
	}
	return errors.New("write a whole number of MiB or GiB, such as 64MiB")
}

// String writes the size as Set reads it.
func (s sizeFlag) String() string {
	if s > 0 && s%gibibyte == 0 {
		return fmt.Sprintf("%dGiB", s/gibibyte)
	}
	return fmt.Sprintf("%dMiB", s/mebibyte)
}

// Type is the name of the flag's value in help.
func (s sizeFlag) Type() string { return "SIZE" }
