// Package lists makes lists of other lists.
package lists

// Map is what f makes of each value.
func Map[V, W any](all []V, f func(V) W) []W {
	out := make([]W, len(all))
	for i, v := range all {
		out[i] = f(v)
	}
	return out
}
