package terminal

import (
	"io"
	"regexp"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// Unsteered is the stream without anything that would steer its terminal. Anyone can
// choose the names that are printed, and they must not move the cursor or set the
// title. Where colours is true, those of Style.Paint pass.
func Unsteered(stream io.Writer, colours bool) io.Writer { return &unsteered{stream, colours} }

type unsteered struct {
	stream  io.Writer
	colours bool
}

// Raw is the stream inside one of Unsteered, for deliberate steering. Everything else
// that is written there has to be printable already.
func Raw(stream io.Writer) io.Writer {
	if u, ok := stream.(*unsteered); ok {
		return u.stream
	}
	return stream
}

// Write implements io.Writer. Where a character is split between two writes, its
// halves are shown as invalid bytes.
func (u *unsteered) Write(p []byte) (int, error) {
	if _, err := io.WriteString(u.stream, WithoutSteering(string(p), u.colours)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownColours are those of Style.Paint.
var ownColours = regexp.MustCompile("\x1b\\[(?:0|1|2|31|32|33|36)m")

// WithoutSteering is a text in which only colours steer a terminal.
func WithoutSteering(s string, colours bool) string {
	if !colours {
		return printable.Text(s)
	}
	var b strings.Builder
	for at := ownColours.FindStringIndex(s); at != nil; at = ownColours.FindStringIndex(s) {
		b.WriteString(printable.Text(s[:at[0]]) + s[at[0]:at[1]])
		s = s[at[1]:]
	}
	return b.String() + printable.Text(s)
}
