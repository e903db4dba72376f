"""The code of the loop that runs kernels; `burnish.runtime.cpu.driver` says what it does."""

from __future__ import annotations

from functools import lru_cache

from burnish.codegen.cpu.target import InstructionSet
from burnish.hw.detect import ARM, X86
from burnish.runtime.cpu.driver import ASLEEP_WORD, DOUBT_WORD, LINE_WORDS, LoopDriver, Word

SPINS = 2**14
"""Looks at the barrier, about 40 ns each, before a thread goes to sleep: for longer than threads
that run are apart. Whoever is waited for longer has lost its core, and may want this one."""
DOUBTS = 6
"""After a sleep a thread looks 2 ** 6 times less, and twice as often after each wait without one:
on a busy machine the next wait is as long, and who was asleep gets a core soon."""


@lru_cache(maxsize=4)
def driver(target: InstructionSet) -> LoopDriver:
    """Return the loop for a target; it is compiled once in a process."""
    from burnish.codegen.cpu.compile import compile_module

    return LoopDriver(compile_module(ir_text(target.family), target).address)


def ir_text(family: str) -> str:
    """Return the loop in LLVM IR, for a family of processors."""
    declared, pause = _PAUSES.get(family, ("", ""))
    words = {word.name.lower(): int(word) for word in Word}
    numbers = {"spins": SPINS, "doubts": DOUBTS, "line": LINE_WORDS}
    places = {"asleep": ASLEEP_WORD, "doubt": DOUBT_WORD}
    return _TEXT.format(pause=pause, declared=declared, **numbers, **places, **words)


_PAUSES = {
    X86: ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"),
    # not YIELD: cores that run one thread take it for nothing, and would look 20 times as often
    ARM: ("declare void @llvm.aarch64.isb(i32)", "call void @llvm.aarch64.isb(i32 15)"),
}
"""How a thread that spins leaves the core's units and the barrier's line to others for a moment:
what is declared, what is called."""

_TEXT = """; how kernels are run: written by hand, see driver.py
%step = type {{ ptr, ptr, i64, i64 }}

{declared}

define void @burnish_alone(i64 %steps_word, i64 %count, i64 %scratch_word) {{
entry:
  %steps = inttoptr i64 %steps_word to ptr
  %scratch = inttoptr i64 %scratch_word to ptr
  br label %head
head:
  %s = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %s, %count
  br i1 %more, label %body, label %done
body:
  %step = getelementptr %step, ptr %steps, i64 %s
  %function = load ptr, ptr %step
  %arguments_at = getelementptr %step, ptr %step, i64 0, i32 1
  %arguments = load ptr, ptr %arguments_at
  %tiles_at = getelementptr %step, ptr %step, i64 0, i32 2
  %tiles = load i64, ptr %tiles_at
  call void %function(ptr %arguments, i64 0, i64 %tiles, ptr %scratch)
  %next = add i64 %s, 1
  br label %head
done:
  ret void
}}

; a step whose tiles are lists of steps, each of which one thread runs from its begin to its end
define void @burnish_chains(ptr %lists, i64 %first, i64 %end, ptr %scratch) {{
entry:
  %scratch_word = ptrtoint ptr %scratch to i64
  br label %head
head:
  %c = phi i64 [ %first, %entry ], [ %next, %body ]
  %more = icmp slt i64 %c, %end
  br i1 %more, label %body, label %done
body:
  %word = mul i64 %c, 2
  %steps_at = getelementptr i64, ptr %lists, i64 %word
  %steps = load i64, ptr %steps_at
  %count_at = getelementptr i64, ptr %steps_at, i64 1
  %count = load i64, ptr %count_at
  call void @burnish_alone(i64 %steps, i64 %count, i64 %scratch_word)
  %next = add i64 %c, 1
  br label %head
done:
  ret void
}}

; where a thread's range of a step's tiles begins; that of the next thread is where it ends
define internal i64 @range_begin(i64 %tiles, i64 %thread, i64 %threads) {{
  %product = mul i64 %tiles, %thread
  %begin = udiv i64 %product, %threads
  ret i64 %begin
}}

define internal ptr @counter(ptr %team, i64 %step, i64 %thread, i64 %threads) {{
  %parity = and i64 %step, 1
  %set = add i64 %parity, 1
  %before = mul i64 %set, %threads
  %number = add i64 %before, %thread
  %lines = mul i64 %number, {line}
  %word = add i64 %lines, {lines}
  %at = getelementptr i64, ptr %team, i64 %word
  ret ptr %at
}}

define internal void @reset_counter(ptr %team, i64 %step, i64 %thread, i64 %threads) {{
  %steps_at = getelementptr i64, ptr %team, i64 {steps}
  %steps = load ptr, ptr %steps_at
  %tiles_at = getelementptr %step, ptr %steps, i64 %step, i32 2
  %tiles = load i64, ptr %tiles_at
  %begin = call i64 @range_begin(i64 %tiles, i64 %thread, i64 %threads)
  %counter = call ptr @counter(ptr %team, i64 %step, i64 %thread, i64 %threads)
  store atomic i64 %begin, ptr %counter monotonic, align 8
  ret void
}}

define internal ptr @own_line(ptr %team, i64 %thread) {{
  %lines = mul i64 %thread, {line}
  %word = add i64 %lines, {lines}
  %at = getelementptr i64, ptr %team, i64 %word
  ret ptr %at
}}

; sleep until somebody posts; a signal is no post
define internal void @sleep(ptr %team, ptr %line) {{
entry:
  %wait_at = getelementptr i64, ptr %team, i64 {wait}
  %wait = load ptr, ptr %wait_at
  br label %again
again:
  %failed = call i32 %wait(ptr %line)
  %woken = icmp eq i32 %failed, 0
  br i1 %woken, label %done, label %again
done:
  ret void
}}

; post for every thread that said it sleeps; who takes back what it said first is not posted for
define internal void @wake_sleepers(ptr %team, i64 %threads) {{
entry:
  %post_at = getelementptr i64, ptr %team, i64 {post}
  %post = load ptr, ptr %post_at
  br label %each
each:
  %t = phi i64 [ 0, %entry ], [ %t_next, %next ]
  %line = call ptr @own_line(ptr %team, i64 %t)
  %asleep_at = getelementptr i64, ptr %line, i64 {asleep}
  %seen = load atomic i64, ptr %asleep_at seq_cst, align 8
  %may = icmp ne i64 %seen, 0
  br i1 %may, label %take_back, label %next
take_back:
  %was = atomicrmw xchg ptr %asleep_at, i64 0 seq_cst
  %is = icmp ne i64 %was, 0
  br i1 %is, label %rouse, label %next
rouse:
  %ignored = call i32 %post(ptr %line)
  br label %next
next:
  %t_next = add i64 %t, 1
  %more = icmp slt i64 %t_next, %threads
  br i1 %more, label %each, label %done
done:
  ret void
}}

define internal void @barrier(ptr %team, i64 %thread, i64 %threads) {{
entry:
  %generation_at = getelementptr i64, ptr %team, i64 {generation}
  %arrived_at = getelementptr i64, ptr %team, i64 {arrived}
  %line = call ptr @own_line(ptr %team, i64 %thread)
  %asleep_at = getelementptr i64, ptr %line, i64 {asleep}
  %doubt_at = getelementptr i64, ptr %line, i64 {doubt}
  %doubt = load i64, ptr %doubt_at
  %spins = lshr i64 {spins}, %doubt
  %generation = load atomic i64, ptr %generation_at acquire, align 8
  %before = atomicrmw add ptr %arrived_at, i64 1 acq_rel
  %with_me = add i64 %before, 1
  %last = icmp eq i64 %with_me, %threads
  br i1 %last, label %open, label %look
open:
  store atomic i64 0, ptr %arrived_at monotonic, align 8
  %following = add i64 %generation, 1
  ; in one order with what sleepers say: either they are seen here, or they see this
  store atomic i64 %following, ptr %generation_at seq_cst, align 8
  call void @wake_sleepers(ptr %team, i64 %threads)
  ret void
look:
  %looks = phi i64 [ 0, %entry ], [ %looked, %spin ]
  %now = load atomic i64, ptr %generation_at acquire, align 8
  %same = icmp eq i64 %now, %generation
  br i1 %same, label %wait, label %through
wait:
  %looked = add i64 %looks, 1
  %patient = icmp ult i64 %looks, %spins
  br i1 %patient, label %spin, label %lie_down
spin:
  {pause}
  br label %look
lie_down:
  store i64 {doubts}, ptr %doubt_at
  br label %say
say:
  store atomic i64 1, ptr %asleep_at seq_cst, align 8
  %after = load atomic i64, ptr %generation_at seq_cst, align 8
  %still = icmp eq i64 %after, %generation
  br i1 %still, label %rest, label %get_up
get_up:
  %said = atomicrmw xchg ptr %asleep_at, i64 0 seq_cst
  %unseen = icmp ne i64 %said, 0
  br i1 %unseen, label %leave, label %rest
rest:
  ; who opened the barrier before this one may still be waking, and take this thread for one of its
  call void @sleep(ptr %team, ptr %line)
  %then = load atomic i64, ptr %generation_at acquire, align 8
  %not_yet = icmp eq i64 %then, %generation
  br i1 %not_yet, label %say, label %leave
through:
  %doubted = icmp ne i64 %doubt, 0
  br i1 %doubted, label %trust, label %leave
trust:
  %less = sub i64 %doubt, 1
  store i64 %less, ptr %doubt_at
  br label %leave
leave:
  ret void
}}

; take chunks of one thread's range until none is left
define internal void @take(ptr %team, i64 %step_number, i64 %owner, i64 %threads, ptr %scratch) {{
entry:
  %steps_at = getelementptr i64, ptr %team, i64 {steps}
  %steps = load ptr, ptr %steps_at
  %step = getelementptr %step, ptr %steps, i64 %step_number
  %function = load ptr, ptr %step
  %arguments_at = getelementptr %step, ptr %step, i64 0, i32 1
  %arguments = load ptr, ptr %arguments_at
  %tiles_at = getelementptr %step, ptr %step, i64 0, i32 2
  %tiles = load i64, ptr %tiles_at
  %chunk_at = getelementptr %step, ptr %step, i64 0, i32 3
  %chunk = load i64, ptr %chunk_at
  %behind = add i64 %owner, 1
  %end = call i64 @range_begin(i64 %tiles, i64 %behind, i64 %threads)
  %counter = call ptr @counter(ptr %team, i64 %step_number, i64 %owner, i64 %threads)
  br label %look
look:
  ; a look before taking: others' counters are mostly used up, and reading shares the line
  %seen = load atomic i64, ptr %counter monotonic, align 8
  %any = icmp slt i64 %seen, %end
  br i1 %any, label %try, label %done
try:
  %first = atomicrmw add ptr %counter, i64 %chunk monotonic
  %got = icmp slt i64 %first, %end
  br i1 %got, label %run, label %done
run:
  %unbounded = add i64 %first, %chunk
  %beyond = icmp sgt i64 %unbounded, %end
  %last = select i1 %beyond, i64 %end, i64 %unbounded
  call void %function(ptr %arguments, i64 %first, i64 %last, ptr %scratch)
  br label %look
done:
  ret void
}}

define internal void @work(ptr %team, i64 %thread) {{
entry:
  %threads = load i64, ptr %team
  %count_at = getelementptr i64, ptr %team, i64 {count}
  %count = load i64, ptr %count_at
  %scratch_at = getelementptr i64, ptr %team, i64 {scratch}
  %scratch_first = load ptr, ptr %scratch_at
  %stride_at = getelementptr i64, ptr %team, i64 {scratch_stride}
  %stride = load i64, ptr %stride_at
  %offset = mul i64 %stride, %thread
  %scratch = getelementptr i8, ptr %scratch_first, i64 %offset
  br label %head
head:
  %s = phi i64 [ 0, %entry ], [ %next, %behind_step ]
  %more = icmp slt i64 %s, %count
  br i1 %more, label %begin, label %done
begin:
  ; everybody has left the step before this one, whose counters the next step uses again
  %next = add i64 %s, 1
  %has_next = icmp slt i64 %next, %count
  br i1 %has_next, label %reset, label %owners
reset:
  call void @reset_counter(ptr %team, i64 %next, i64 %thread, i64 %threads)
  br label %owners
owners:
  %v = phi i64 [ 0, %begin ], [ 0, %reset ], [ %v_next, %owners ]
  %sum = add i64 %thread, %v
  %owner = urem i64 %sum, %threads
  call void @take(ptr %team, i64 %s, i64 %owner, i64 %threads, ptr %scratch)
  %v_next = add i64 %v, 1
  %more_owners = icmp slt i64 %v_next, %threads
  br i1 %more_owners, label %owners, label %behind_step
behind_step:
  call void @barrier(ptr %team, i64 %thread, i64 %threads)
  br label %head
done:
  ret void
}}

define void @burnish_lead(i64 %team_word, i64 %steps_word, i64 %count) {{
entry:
  %team = inttoptr i64 %team_word to ptr
  %threads = load i64, ptr %team
  %steps_at = getelementptr i64, ptr %team, i64 {steps}
  store i64 %steps_word, ptr %steps_at
  %count_at = getelementptr i64, ptr %team, i64 {count}
  store i64 %count, ptr %count_at
  %post_at = getelementptr i64, ptr %team, i64 {post}
  %post = load ptr, ptr %post_at
  br label %resets
resets:
  %r = phi i64 [ 0, %entry ], [ %r_next, %resets ]
  call void @reset_counter(ptr %team, i64 0, i64 %r, i64 %threads)
  %r_next = add i64 %r, 1
  %more_resets = icmp slt i64 %r_next, %threads
  br i1 %more_resets, label %resets, label %wake
wake:
  %t = phi i64 [ 1, %resets ], [ %t_next, %wake_one ]
  %more = icmp slt i64 %t, %threads
  br i1 %more, label %wake_one, label %go
wake_one:
  %semaphore = call ptr @own_line(ptr %team, i64 %t)
  %ignored = call i32 %post(ptr %semaphore)
  %t_next = add i64 %t, 1
  br label %wake
go:
  call void @work(ptr %team, i64 0)
  ret void
}}

define void @burnish_follow(i64 %team_word, i64 %thread) {{
entry:
  %team = inttoptr i64 %team_word to ptr
  %stop_at = getelementptr i64, ptr %team, i64 {stop}
  %semaphore = call ptr @own_line(ptr %team, i64 %thread)
  br label %sleep
sleep:
  call void @sleep(ptr %team, ptr %semaphore)
  %stop = load atomic i64, ptr %stop_at acquire, align 8
  %stopped = icmp ne i64 %stop, 0
  br i1 %stopped, label %done, label %serve
serve:
  call void @work(ptr %team, i64 %thread)
  br label %sleep
done:
  ret void
}}
"""
