// Package group puts together what belongs together.
package group

// By puts values with the same key together. The keys are in the order of their
// first values, and so are the values of each.
func By[K comparable, V any](all []V, key func(V) K) (keys []K, groups map[K][]V) {
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
