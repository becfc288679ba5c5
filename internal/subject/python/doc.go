// Package python finds the Python of a Windows machine. Elsewhere it is empty: a Python is called python3 there.
package python
