package scenarios

// Unplaced takes off the steps where they stand in their file.
func Unplaced(s *Scenario) { unplaced(s.Steps) }

func unplaced(steps []Step) {
	for i := range steps {
		steps[i].Line, steps[i].Column = 0, 0
		for _, lane := range steps[i].lanes() {
			unplaced(lane)
		}
	}
}
