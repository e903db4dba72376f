; for cpu: avx2: maxpool_2
;   in0 = x: f32[1, 2, 4, 16]
;   out0 = y: f32[1, 2, 2, 8]
;   y: f32[i0=1, i1=2, i2=2, i3=8] = max(k0=2, k1=2) x[0, i1, 2*i2 + k0, 2*i3 + k1]  # maxpool_2
; loops      y: i0=4 of i1·i2, i1=8 of i3, k0=2 of k0, k1=2 of k1, 1 vectors of 8 along i1, k0 unrolled, k1 unrolled
; schedule   tile 1×2×2×8
; launch     tiles 1, scratch_bytes 256
; predicted  1.06 µs, 320 B from and to memory
; ModuleID = "maxpool_95f86d3623a6"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"maxpool_95f86d3623a6"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
{
entry:
  %".6" = getelementptr ptr, ptr %"arguments", i64 0
  %"in0" = load ptr, ptr %".6"
  %".7" = getelementptr ptr, ptr %"arguments", i64 1
  %"out0" = load ptr, ptr %".7"
  %"max" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i0.after"]
  %".10" = icmp slt i64 %"tile", %"end"
  br i1 %".10", label %"tile.body", label %"tile.after"
tile.body:
  %".12" = add i64 0, 1
  %".13" = add i64 0, 2
  %".14" = add i64 0, 2
  %".15" = add i64 0, 8
  %".16" = mul i64 0, 2
  %".17" = mul i64 %".13", 2
  br label %"i0.loop"
tile.after:
  ret void
i0.loop:
  %"i0" = phi  i64 [%".16", %"tile.body"], [%"i0.next", %"i1.after"]
  %".19" = icmp slt i64 %"i0", %".17"
  br i1 %".19", label %"i0.body", label %"i0.after"
i0.body:
  %".21" = add i64 0, 8
  br label %"i1.loop"
i0.after:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i1.loop:
  %"i1" = phi  i64 [0, %"i0.body"], [%"i1.next", %"i1.body"]
  %".23" = icmp slt i64 %"i1", %".21"
  br i1 %".23", label %"i1.body", label %"i1.after"
i1.body:
  store <8 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <8 x float>* %"max"
  %".26" = mul nsw i64 %"i1", 2
  %".27" = add nsw i64 0, %".26"
  %".28" = mul nsw i64 %"i0", 32
  %".29" = add nsw i64 %".27", %".28"
  %".30" = getelementptr float, ptr %"in0", i64 %".29"
  %"in0.at" = getelementptr float, ptr %".30", i64 0
  %".32" = load <16 x float>, ptr %"in0.at", align 4
  %"in0.value" = shufflevector <16 x float> %".32", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %".34" = load <8 x float>, <8 x float>* %"max"
  %".35" = fcmp uno <8 x float> %".34", %".34"
  %".36" = fcmp ogt <8 x float> %".34", %"in0.value"
  %".37" = select  <8 x i1> %".36", <8 x float> %".34", <8 x float> %"in0.value"
  %"maximum" = select  <8 x i1> %".35", <8 x float> %".34", <8 x float> %".37"
  store <8 x float> %"maximum", <8 x float>* %"max"
  %"in0.at.1" = getelementptr float, ptr %".30", i64 1
  %".41" = load <16 x float>, ptr %"in0.at.1", align 4
  %"in0.value.1" = shufflevector <16 x float> %".41", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %".43" = load <8 x float>, <8 x float>* %"max"
  %".44" = fcmp uno <8 x float> %".43", %".43"
  %".45" = fcmp ogt <8 x float> %".43", %"in0.value.1"
  %".46" = select  <8 x i1> %".45", <8 x float> %".43", <8 x float> %"in0.value.1"
  %"maximum.1" = select  <8 x i1> %".44", <8 x float> %".43", <8 x float> %".46"
  store <8 x float> %"maximum.1", <8 x float>* %"max"
  %"in0.at.2" = getelementptr float, ptr %".30", i64 16
  %".50" = load <16 x float>, ptr %"in0.at.2", align 4
  %"in0.value.2" = shufflevector <16 x float> %".50", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %".52" = load <8 x float>, <8 x float>* %"max"
  %".53" = fcmp uno <8 x float> %".52", %".52"
  %".54" = fcmp ogt <8 x float> %".52", %"in0.value.2"
  %".55" = select  <8 x i1> %".54", <8 x float> %".52", <8 x float> %"in0.value.2"
  %"maximum.2" = select  <8 x i1> %".53", <8 x float> %".52", <8 x float> %".55"
  store <8 x float> %"maximum.2", <8 x float>* %"max"
  %"in0.at.3" = getelementptr float, ptr %".30", i64 17
  %".59" = load <16 x float>, ptr %"in0.at.3", align 4
  %"in0.value.3" = shufflevector <16 x float> %".59", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %".61" = load <8 x float>, <8 x float>* %"max"
  %".62" = fcmp uno <8 x float> %".61", %".61"
  %".63" = fcmp ogt <8 x float> %".61", %"in0.value.3"
  %".64" = select  <8 x i1> %".63", <8 x float> %".61", <8 x float> %"in0.value.3"
  %"maximum.3" = select  <8 x i1> %".62", <8 x float> %".61", <8 x float> %".64"
  store <8 x float> %"maximum.3", <8 x float>* %"max"
  %".67" = load <8 x float>, <8 x float>* %"max"
  %".68" = mul nsw i64 %"i1", 1
  %".69" = add nsw i64 0, %".68"
  %".70" = mul nsw i64 %"i0", 8
  %".71" = add nsw i64 %".69", %".70"
  %".72" = getelementptr float, ptr %"out0", i64 %".71"
  %"out0.at" = getelementptr float, ptr %".72", i64 0
  store <8 x float> %".67", ptr %"out0.at", align 4
  %"i1.next" = add nsw i64 %"i1", 8
  br label %"i1.loop"
i1.after:
  %"i0.next" = add nsw i64 %"i0", 1
  br label %"i0.loop"
}
