"""What a scheduler of one's own needs to know, all in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from llmserving.scheduling.engine import Engine


class Policy(Protocol):
    """A scheduler: any object with `schedule(engine)`, which is called before every step and makes its moves.

    It reads, and cannot change but by its moves,
        engine.waiting, engine.running   requests, both in the order of arrival, the first come first
        engine.free_blocks               of the pool; engine.memory has num_blocks and block_size
        engine.step, engine.time_s       the number of this step, from 1, and the clock in seconds
        sequence.left                    of one request: tokens of its prompt that are still to be computed
        sequence.decodes                 whether none is left, so that it is due for a token in every step
        sequence.cached, .produced       tokens in the cache, and tokens that it was given
        sequence.request                 with id, arrival_s, prompt_tokens and output_tokens
    asks
        engine.can_admit()               whether somebody waits, and there is room for the first of them
        engine.can_decode(sequence)      whether there is a slot for the next token of one that runs
    and moves
        engine.admit()                   the first that waits runs, with blocks for its whole prompt; returns it
        engine.prefill(sequence, n)      n tokens of its prompt are computed in this step
        engine.decode(sequence)          it is given a token in this step
        engine.preempt(sequence)         it gives its blocks back and waits again; its cache is lost, and is to be computed
                                         again by prefill, with what it was given (where the scheduler has an attribute
                                         `preemption = "swap"`, it is kept: who is admitted with none left decodes at once)

    Each rule has a name, which is told when it is broken:
        idle                     a step computes at least one token
        starvation               whoever runs and decodes is given a token in every step, or is sent back; where the first
                                 that runs has prompt left, some of it is computed
        first come, first served nobody is let in while somebody who came earlier waits on
        victim                   who is sent back came last of those that run, and the first that runs never is
        no room, chunk           nobody is let in or decodes without free blocks; no more of a prompt is computed than is
                                 left, and nobody decodes before all of it is
        twice, unknown           one prefill, decode or preempt a request and step; only of one that runs
        max_num_seqs             where the scheduler has this attribute, no more requests run
        token_budget             where it has this one, a step computes no more tokens
        by hand                  queues, requests and clock change by moves alone
        bug                      `schedule` raises nothing of its own
        endless                  all that `play_schedule` plays comes to its end

    A request runs from admit on until it has all its tokens; the engine then takes it out and frees its blocks. What a
    prompt's last prefill and every decode give is one token each, at the end of the step. The shortest scheduler:

        class Mine:
            def schedule(self, engine):
                for sequence in list(engine.running):
                    while sequence in engine.running and not engine.can_decode(sequence):
                        engine.preempt(engine.running[-1])
                    if sequence in engine.running:
                        engine.decode(sequence)
                while engine.can_admit():
                    sequence = engine.admit()
                    engine.prefill(sequence, sequence.left)
    """

    def schedule(self, engine: Engine) -> None:
        """Make the moves of the next step."""
