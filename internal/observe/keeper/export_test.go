package keeper

import "time"

// AnswerWithin sets how long a keeper that has started may take to answer.
func (k *Keeper) AnswerWithin(d time.Duration) { k.p.Answer = d }
