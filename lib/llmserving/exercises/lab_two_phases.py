"""The lab of level 1: both phases on the learner's own clock, and a measurement predicted from bandwidth."""

from __future__ import annotations

from llmserving.exercises.draws import Draw
from llmserving.exercises.exercise import Exercise, Field, Option, Part

NOTEBOOK = "L1/lab_two_phases"

_SIZES = (
    Field("weights", "weights", 1e3, 1e13, whole=True),
    Field("bytes_a_weight", "bytes", 0.1, 8),
    Field("kv_bytes_a_token", "bytes", 1, 1e9),
    Field("cached_tokens", "tokens", 1, 1e7, whole=True),
)
_DECODE_SECONDS = Field("decode_seconds", "s", 1e-7, 100, samples=3)

LAB1_1 = Exercise(
    id="LAB1.1",
    title="Time and bytes of a token, in both phases",
    notebook=NOTEBOOK,
    statement=(
        "Run the cell above: it times both phases of the small model and records them. Then work out, from the numbers that it "
        "prints, what a token costs in each phase. Your answers are checked against your own recording."
    ),
    parts=(
        Part(
            "phases",
            "L1.lab.phases",
            "measurement",
            "both phases, recorded by the cell above",
            (
                "The last line of the cell above records what it measured. Run the cell as it is.",
                "Each number in decode_seconds is the time of one pass, in seconds: the gap between two tokens, not "
                "the moment at which a token came.",
            ),
            points=1,
            fields=(
                *_SIZES,
                Field("prompt_tokens", "tokens", 2, 1e6, whole=True),
                Field("prefill_seconds", "s", 1e-7, 1000, samples=3),
                _DECODE_SECONDS,
            ),
        ),
        Part(
            "slower",
            "LAB1_1_slower",
            "value",
            "how many times as long one token takes in decode as one token of the prompt takes in prefill",
            (
                "The cell prints the time of a pass in each phase. How many tokens does each pass carry?",
                "First work out the time of one token in each phase, then divide.",
                "A similar case: 200 tokens in 50 ms, then 5 ms a pass: 0.25 ms against 5 ms a token, 20 times as long.",
            ),
            points=1,
            quantity="ratio",
        ),
        Part(
            "read",
            "LAB1_1_read",
            "value",
            "the bytes that one decode pass reads: of the weights, and of the keys and values that are cached",
            (
                "A decode pass reads every weight once, and the key and value of every cached token once.",
                "A count of weights is not yet a number of bytes. The bytes of one cached token already include its "
                "key and its value.",
                "A similar case: 10 million weights of 2 bytes, 100 cached tokens of 50 KB: 20 MB + 5 MB = 25,000,000 bytes.",
            ),
            points=1,
            quantity="bytes",
            unit="bytes",
        ),
        Part(
            "prompt_read",
            "LAB1_1_prompt_read",
            "value",
            "the bytes of weights that prefill reads for each token of the prompt",
            (
                "Prefill reads every weight once, too. How many tokens share that reading?",
                "A similar case: 10 million weights of 2 bytes, 100 tokens in the prompt: 20 MB for all, 200,000 bytes for each.",
            ),
            points=1,
            quantity="bytes",
            unit="bytes",
        ),
    ),
    draw=Draw("LAB1.1"),
    difficulty=2,
    minutes=8,
    importance=5,
    version=2,
)

LAB1_2 = Exercise(
    id="LAB1.2",
    title="Decode, predicted from bandwidth",
    notebook=NOTEBOOK,
    statement=(
        "The cell above measured how fast your machine reads memory, and says what a decode pass of a larger model will read. "
        "Predict its decode from these two: suppose that a pass takes as long as reading its bytes at that rate, and no longer."
    ),
    parts=(
        Part(
            "memory",
            "L1.lab.memory",
            "measurement",
            "the rate of reading and the model's sizes, recorded by the cell above",
            ("The last line of the cell above records what it measured. Run the cell as it is.",),
            points=1,
            fields=(Field("read_bytes_per_s", "bytes/s", 1e7, 1e14), *_SIZES),
        ),
        Part(
            "tokens_per_s",
            "LAB1_2_tokens_per_s",
            "value",
            "tokens a second in decode, for one request, if nothing but reading took time: a plain number, to be recorded",
            (
                "How many bytes does one pass read? Add them up as in LAB1.1, with this model's sizes.",
                "The rate says how many bytes arrive in a second. How many passes' worth of bytes is that?",
                "A similar case: 25 MB a pass at 5 GB/s: 5 ms a pass, 200 tokens a second.",
            ),
            points=1,
            quantity="real",
            unit="tokens/s",
        ),
    ),
    draw=Draw("LAB1.2"),
    difficulty=2,
    minutes=5,
    importance=5,
    version=2,
)

_REASONS = (
    Option("cache_left_out", "the keys and values of the cached tokens are read as well, and were not counted"),
    Option("python_alone", "the interpreter takes longer than all the reading, since Python is slow at arithmetic"),
    Option("slow_arithmetic", "the processor is too slow: two FLOPs a weight take longer than to read the weight"),
    Option(
        "thin_products",
        "a pass is many small products, which do not reach the rate of one long read, and other work between them",
    ),
    Option("weights_from_disk", "the weights come from the disk for each token, and a disk is slower than memory"),
)

LAB1_3 = Exercise(
    id="LAB1.3",
    title="Predicted and measured",
    notebook=NOTEBOOK,
    statement="The cells above recorded your prediction, and then the measurement. Compare the two, and say what the "
    "gap comes from.",
    parts=(
        Part(
            "predicted",
            "L1.lab.predicted",
            "measurement",
            "the rate that you predicted, recorded before the measurement",
            (
                "Set LAB1_2_tokens_per_s in the exercise before this one and run its cell; then run the cell that records it, "
                "and after that the cell that measures.",
            ),
            points=0.5,
            fields=(Field("tokens_per_s", "tokens/s", 1e-6, 1e9),),
        ),
        Part(
            "measured",
            "L1.lab.measured",
            "measurement",
            "decode of the larger model, recorded after the prediction",
            ("The cell above measures once your prediction is recorded, and records what it finds.",),
            points=0.5,
            fields=(_DECODE_SECONDS,),
        ),
        Part(
            "gap",
            "LAB1_3_gap",
            "value",
            "how many times as long a pass took as you predicted",
            (
                "Your prediction is in tokens a second, the measurement in seconds a token. Turn one of them into the other.",
                "A similar case: predicted 200 tokens a second, which is 5 ms a token; measured 8 ms: 1.6 times as long.",
            ),
            points=1,
            quantity="ratio",
        ),
        Part(
            "reason",
            "LAB1_3_reason",
            "choice",
            "what accounts for the gap",
            (
                "The rate was measured in one long run through memory. What does a pass do that is not such a run?",
                "Test each reason against this lab: what you counted, what prefill shows about arithmetic, when the "
                "model was loaded.",
            ),
            points=1,
            options=_REASONS,
        ),
    ),
    draw=Draw("LAB1.3"),
    difficulty=3,
    minutes=7,
    importance=4,
)

_SIDES = (
    Option("left_arithmetic", "left of the ridge: more FLOP/s would lift it, more bandwidth would not"),
    Option("left_bandwidth", "left of the ridge: more bandwidth would lift it, more FLOP/s would not"),
    Option("right_arithmetic", "right of the ridge: more FLOP/s would lift it, more bandwidth would not"),
    Option("right_bandwidth", "right of the ridge: more bandwidth would lift it, more FLOP/s would not"),
)
_MOVES = (
    Option("faster_memory", "faster memory: the same bytes arrive sooner for the same arithmetic"),
    Option("longer_reply", "a longer reply: its many passes share one reading of the weights"),
    Option("more_layers", "a model of more layers: each token takes part in more arithmetic"),
    Option("more_requests", "more requests in a pass: each weight that is read serves them all"),
)

LAB1_4 = Exercise(
    id="LAB1.4",
    title="Where decode stands under the roof",
    notebook=NOTEBOOK,
    statement="Look at the picture above: your two passes under the roof of the machine that it names.",
    parts=(
        Part(
            "intensity",
            "LAB1_4_intensity",
            "value",
            "the FLOPs of a decode pass for each byte of weights that it reads, at 4 bytes a weight",
            (
                "Each weight is multiplied by one number of the token, and the product is added to a sum.",
                "A similar case: at 8 bytes a weight, and 3 tokens in the pass, 6 FLOPs for 8 bytes: 0.75 FLOP a byte.",
            ),
            points=1,
            quantity="real",
            unit="FLOP/byte",
        ),
        Part(
            "side",
            "LAB1_4_side",
            "choice",
            "where the mark of decode lies, and what follows from that",
            (
                "The slope is what bandwidth allows, the flat roof what arithmetic allows. Which of the two is above the mark?",
            ),
            points=1,
            options=_SIDES,
        ),
        Part(
            "move",
            "LAB1_4_move",
            "choice",
            "what moves the mark of decode to the right",
            (
                "Further right means more FLOPs for each byte. What brings more of the one without more of the other?",
                "Prefill lies far to the right of decode, yet reads the same weights. What is different about its pass?",
            ),
            points=1,
            options=_MOVES,
        ),
    ),
    draw=Draw("LAB1.4"),
    difficulty=2,
    minutes=5,
    importance=4,
    version=2,
)

EXERCISES_HERE = (LAB1_1, LAB1_2, LAB1_3, LAB1_4)
