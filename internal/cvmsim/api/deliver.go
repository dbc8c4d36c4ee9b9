package api

import (
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
)

const badGateway = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"

// deliver writes the response of a call, or the failure of its fault. The Date is that of the
// response, which may be later than that of the call.
func (e *Endpoint) deliver(w http.ResponseWriter, r *http.Request, body []byte, f Fault) {
	e.Date(w)
	switch f.Kind {
	case FaultHTTP502, FaultHTTP502After:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, badGateway)
	case FaultResetBefore, FaultResetAfter:
		reset(w)
	case FaultTimeout, FaultTimeoutAfter:
		e.hold(r, time.Duration(f.Delay), defaultFaultDelay)
		reset(w)
	case FaultSlow:
		if e.hold(r, time.Duration(f.Delay), defaultSlowDelay) {
			e.Date(w)
			wire.WriteEnvelope(w, body)
		}
	case FaultBadJSON:
		wire.WriteEnvelope(w, body[:len(body)/2])
	default:
		wire.WriteEnvelope(w, body)
	}
}

// hold waits in real time. It reports false if the client gave up or the server closed.
func (e *Endpoint) hold(r *http.Request, delay, otherwise time.Duration) bool {
	if delay == 0 {
		delay = otherwise
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-e.closing:
	}
	return false
}

func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // without it, the connection closes in order, still without a response
		}
		_ = conn.Close()
		return
	}
	panic(http.ErrAbortHandler)
}
