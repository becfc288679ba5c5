package patience

import (
	"context"
	"time"
)

// UntilChange waits for the next event, which changed stands for, but not longer than most.
func UntilChange(ctx context.Context, changed <-chan struct{}, most time.Duration) error {
	timer := time.NewTimer(max(most, time.Millisecond))
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// UntilNews is UntilChange, but not before the earliest time: what many events tell at once is worth one look.
func UntilNews(ctx context.Context, news <-chan struct{}, earliest time.Time, most time.Duration) error {
	if err := UntilChange(ctx, news, most); err != nil {
		return err
	}
	if left := time.Until(earliest); left > 0 {
		return UntilChange(ctx, nil, left)
	}
	return nil
}
