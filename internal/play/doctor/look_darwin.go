package doctor

// unixOnly is for Windows.
var unixOnly []string
