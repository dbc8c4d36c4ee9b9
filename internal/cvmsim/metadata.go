package cvmsim

import "net/http"

func (s *Server) serveMetadata(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
