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

// GroupBy puts values with the same key together. The keys are in the order of their first values, and so are the values of each.
func GroupBy[K comparable, V any](all []V, key func(V) K) (keys []K, groups map[K][]V) {
	groups = map[K][]V{}
	for _, v := range all {
		k := key(v)
		if _, seen := groups[k]; !seen {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], v)
	}
	return keys, groups
}
