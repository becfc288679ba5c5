package doctor

func limits() []Lack { return nil }
