"""The code of the loop that runs kernels; `burnish.runtime.cpu.driver` says what it does."""

from __future__ import annotations

import platform
from functools import lru_cache

from burnish.codegen.cpu.target import InstructionSet
from burnish.runtime.cpu.driver import LINE_WORDS, LoopDriver, Word

SPINS = 256
"""Looks at the barrier, about 40 ns each, before a thread gives its core away."""


@lru_cache(maxsize=4)
def driver(target: InstructionSet) -> LoopDriver:
    """Return the loop for a target; it is compiled once in a process."""
    from burnish.codegen.cpu.compile import compile_module

    return LoopDriver(compile_module(ir_text(), target).address)


def ir_text() -> str:
    """Return the loop in LLVM IR."""
    pause = "call void @llvm.x86.sse2.pause()" if _is_x86() else ""
    declared = "declare void @llvm.x86.sse2.pause()" if _is_x86() else ""
    words = {word.name.lower(): int(word) for word in Word}
    return _TEXT.format(pause=pause, declared=declared, spins=SPINS, line=LINE_WORDS, **words)


def _is_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64")


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

define internal void @barrier(ptr %team, i64 %threads) {{
entry:
  %generation_at = getelementptr i64, ptr %team, i64 {generation}
  %arrived_at = getelementptr i64, ptr %team, i64 {arrived}
  %generation = load atomic i64, ptr %generation_at acquire, align 8
  %before = atomicrmw add ptr %arrived_at, i64 1 acq_rel
  %with_me = add i64 %before, 1
  %last = icmp eq i64 %with_me, %threads
  br i1 %last, label %open, label %look
open:
  store atomic i64 0, ptr %arrived_at monotonic, align 8
  %following = add i64 %generation, 1
  store atomic i64 %following, ptr %generation_at release, align 8
  ret void
look:
  %looks = phi i64 [ 0, %entry ], [ %looked, %spin ], [ %looked, %give ]
  %now = load atomic i64, ptr %generation_at acquire, align 8
  %same = icmp eq i64 %now, %generation
  br i1 %same, label %wait, label %through
wait:
  %looked = add i64 %looks, 1
  %patient = icmp ult i64 %looks, {spins}
  br i1 %patient, label %spin, label %give
spin:
  {pause}
  br label %look
give:
  %yield_at = getelementptr i64, ptr %team, i64 {yield}
  %yield = load ptr, ptr %yield_at
  %ignored = call i32 %yield()
  br label %look
through:
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
  call void @barrier(ptr %team, i64 %threads)
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
  %lines = mul i64 %t, {line}
  %word = add i64 %lines, {lines}
  %semaphore = getelementptr i64, ptr %team, i64 %word
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
  %wait_at = getelementptr i64, ptr %team, i64 {wait}
  %wait = load ptr, ptr %wait_at
  %stop_at = getelementptr i64, ptr %team, i64 {stop}
  %lines = mul i64 %thread, {line}
  %word = add i64 %lines, {lines}
  %semaphore = getelementptr i64, ptr %team, i64 %word
  br label %sleep
sleep:
  %failed = call i32 %wait(ptr %semaphore)
  %woken = icmp eq i32 %failed, 0
  br i1 %woken, label %look, label %sleep
look:
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
