// Package install puts the packages of a preset into a folder of the user's
// cache: what the preset's lock file pins, or another version that the user
// names. It runs the package managers that people have (pip, npm, cargo) and
// never touches a project.
package install
