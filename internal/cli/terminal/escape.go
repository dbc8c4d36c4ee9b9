package terminal

import (
	"io"
	"regexp"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// NewEscapingWriter is the stream with escaped control characters: names from outside must not move
// the cursor or set the title. If colors is true, those of Style.Paint pass.
func NewEscapingWriter(stream io.Writer, colors bool) io.Writer {
	return &escapingWriter{stream, colors}
}

type escapingWriter struct {
	stream io.Writer
	colors bool
}

// Raw is the stream inside of NewEscapingWriter, to move the cursor. Text written there must be
// printable already.
func Raw(stream io.Writer) io.Writer {
	if u, ok := stream.(*escapingWriter); ok {
		return u.stream
	}
	return stream
}

// Write implements io.Writer. A character that is split between two writes is shown as
// invalid bytes.
func (u *escapingWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(u.stream, EscapeControls(string(p), u.colors)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownColors are the colors of Style.Paint.
var ownColors = regexp.MustCompile("\x1b\\[(?:0|1|2|31|32|33|36)m")

// EscapeControls is a text with escaped control characters, except colors.
func EscapeControls(s string, colors bool) string {
	if !colors {
		return printable.Text(s)
	}
	var b strings.Builder
	for at := ownColors.FindStringIndex(s); at != nil; at = ownColors.FindStringIndex(s) {
		b.WriteString(printable.Text(s[:at[0]]) + s[at[0]:at[1]])
		s = s[at[1]:]
	}
	return b.String() + printable.Text(s)
}
