; for cpu: avx2: transpose_2
;   in0 = x: f32[8, 16]
;   out0 = y: f32[16, 8]
;   y: f32[i0=16, i1=8] = x[i1, i0]  # transpose_2
; loops      y: i0=16 of i0, i1=8 of i1, 1 vectors of 8 along i1
; schedule   tile 16×8
; launch     tiles 1, scratch_bytes 256
; predicted  1.12 µs, 512 B from and to memory
; ModuleID = "transpose_75f9fa5e3d1d"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"transpose_75f9fa5e3d1d"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
{
entry:
  %".6" = getelementptr ptr, ptr %"arguments", i64 0
  %"in0" = load ptr, ptr %".6"
  %".7" = getelementptr ptr, ptr %"arguments", i64 1
  %"out0" = load ptr, ptr %".7"
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i0.after"]
  %".10" = icmp slt i64 %"tile", %"end"
  br i1 %".10", label %"tile.body", label %"tile.after"
tile.body:
  %".12" = add i64 0, 16
  %".13" = add i64 0, 8
  br label %"i0.loop"
tile.after:
  ret void
i0.loop:
  %"i0" = phi  i64 [0, %"tile.body"], [%"i0.next", %"i1.after"]
  %".15" = icmp slt i64 %"i0", %".12"
  br i1 %".15", label %"i0.body", label %"i0.after"
i0.body:
  %".17" = add i64 0, 8
  br label %"i1.loop"
i0.after:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i1.loop:
  %"i1" = phi  i64 [0, %"i0.body"], [%"i1.next", %"i1.body"]
  %".19" = icmp slt i64 %"i1", %".17"
  br i1 %".19", label %"i1.body", label %"i1.after"
i1.body:
  %".21" = mul nsw i64 %"i1", 16
  %".22" = add nsw i64 0, %".21"
  %".23" = mul nsw i64 %"i0", 1
  %".24" = add nsw i64 %".22", %".23"
  %".25" = getelementptr float, ptr %"in0", i64 %".24"
  %"in0.at" = getelementptr float, ptr %".25", i64 0
  %".27" = add i64 %"i1", 0
  %".28" = mul i64 %".27", 16
  %".29" = add i64 0, %".28"
  %".30" = mul i64 %"i0", 1
  %".31" = add i64 %".29", %".30"
  %".32" = getelementptr float, ptr %"in0", i64 %".31"
  %".33" = getelementptr float, ptr %".32", <8 x i32> <i32 0, i32 16, i32 32, i32 48, i32 64, i32 80, i32 96, i32 112>
  %"in0.value" = call <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".33", i32 4, <8 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1>, <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".35" = mul nsw i64 %"i0", 8
  %".36" = add nsw i64 0, %".35"
  %".37" = mul nsw i64 %"i1", 1
  %".38" = add nsw i64 %".36", %".37"
  %".39" = getelementptr float, ptr %"out0", i64 %".38"
  %"out0.at" = getelementptr float, ptr %".39", i64 0
  store <8 x float> %"in0.value", ptr %"out0.at", align 4
  %"i1.next" = add nsw i64 %"i1", 8
  br label %"i1.loop"
i1.after:
  %"i0.next" = add nsw i64 %"i0", 1
  br label %"i0.loop"
}

declare <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".1", i32 %".2", <8 x i1> %".3", <8 x float> %".4")
