package terminal

import (
	"io"
	"regexp"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// Guard is a stream on which nothing steers the terminal but what gpupool itself
// means to: whatever is printed, names in it are anyone's. Colours pass where the
// stream has them.
type Guard struct {
	io.Writer
	Colours bool
}

// Raw is the stream behind a guard, for what steers the terminal on purpose. What
// else goes there has to be printable already.
func Raw(stream io.Writer) io.Writer {
	if g, ok := stream.(*Guard); ok {
		return g.Writer
	}
	return stream
}

// Write implements io.Writer. A character that is cut in two by two writes is
// taken for none.
func (g *Guard) Write(p []byte) (int, error) {
	if _, err := io.WriteString(g.Writer, WithoutSteering(string(p), g.Colours)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownColours are those of style.paint.
var ownColours = regexp.MustCompile("\x1b\\[(?:0|1|2|31|32|33|36)m")

// WithoutSteering is a text in which nothing but colours steers a terminal.
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
