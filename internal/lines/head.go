package lines

// Head is a writer that keeps the first Max bytes of what a program prints, and takes all of it: the program must not block, nor see an
// error.
type Head struct {
	Max  int
	kept []byte
}

// Write keeps what there is room for.
func (h *Head) Write(p []byte) (int, error) {
	h.kept = append(h.kept, p[:min(len(p), h.Max-len(h.kept))]...)
	return len(p), nil
}

// Bytes are those that are kept.
func (h *Head) Bytes() []byte { return h.kept }
