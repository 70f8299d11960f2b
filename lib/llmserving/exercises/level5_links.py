"""What level 5 chooses from: the levers, and the links of its two arguments."""

from __future__ import annotations

from llmserving.exercises.exercise import Option

LEVERS = (
    Option("continuous_batching", "continuous batching"),
    Option("paged_attention", "PagedAttention"),
    Option("w4a16", "W4A16"),
    Option("w8a8", "W8A8"),
)

CHAT_LINKS = (
    Option("as_tokens_come", "Handed out as tokens come, memory goes to what exists, and more chats fit."),
    Option("at_once", "A chat is given room for its greatest length at once, in one piece."),
    Option("dot_products", "Empty slots cost dot products, so each step takes longer than it needs."),
    Option("longest_waits", "A chat keeps its slots because the batch waits for the longest to end."),
    Option("never_used", "Most of that room never holds a token, and no other chat may use it."),
    Option("smaller_cache", "Weights of fewer bits leave a smaller cache, so each chat holds less."),
    Option("weights_stay", "The weights take what they took before any chat came: the cache is what fills."),
)

BATCH_LINKS = (
    Option("batch_grows", "What is set free holds more documents at once, and nobody minds the wait."),
    Option("decode_dominates", "Each token of a summary reads all weights, which takes most of the time."),
    Option("expanding_free", "Expanding weights costs nothing, so the fewer bits they have, the better."),
    Option("halves", "In eight bits the weights take half the room, and there is memory to spare."),
    Option("int8_rate", "Products of integers have a higher peak, so what is waited for is over sooner."),
    Option("many_tokens", "A weight that is read once in a pass meets all of its thousands of tokens."),
    Option("tail_blocks", "Much of the cache is the empty ends of blocks, which is why so little fits."),
    Option("waits_for_arithmetic", "So reading is a small part of a pass, and it waits for arithmetic."),
)
