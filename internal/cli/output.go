package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// errReaderGone says that nobody reads standard output any more.
var errReaderGone error = syscall.EPIPE

// put writes to standard output, in one write.
func (s *session) put(data []byte) error { return putTo(s.Stdout, data) }

func putTo(stream io.Writer, data []byte) error {
	_, err := stream.Write(data)
	if err == nil || errors.Is(err, errReaderGone) {
		return err
	}
	return fmt.Errorf("cannot write to standard output: %w", err)
}

// putJSON writes a value: indented where it stands alone, else on a line of its
// own, as one of several.
func (s *session) putJSON(value any, alone bool) error {
	data, err := json.Marshal(value)
	if alone && err == nil {
		data, err = json.MarshalIndent(value, "", "  ")
	}
	if err != nil {
		return err
	}
	return s.put(append(data, '\n'))
}
