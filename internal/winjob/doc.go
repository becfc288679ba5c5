// Package winjob starts programs in Job Objects of Windows, from their first moment on. Elsewhere it is empty.
package winjob
