package keeper

// What the tests for Windows look at.
var (
	IsDesktopOfWine = isDesktopOfWine
	OnWine          = onWine
)
