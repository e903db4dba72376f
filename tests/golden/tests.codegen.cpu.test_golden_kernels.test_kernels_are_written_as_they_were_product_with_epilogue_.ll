; for cpu: avx2: matmul_2, add_2, relu_2
;   in0 = x: f32[2, 3]
;   in1 = weight: f32[3, 16]
;   in2 = bias: f32[16]
;   out0 = y: f32[2, 16]
;   y: f32[i0=2, i1=16] = sum(k0=3) x[i0, k0] * weight[k0, i1] then where(acc + bias[i1] < 0, 0, acc + bias[i1])  # matmul_2, add_2, relu_2
; loops      y: i0=2 of i0, i1=16 of i1, k0=3 of k0, 2 vectors of 8 along i1, 2 of i0 unrolled, k0 unrolled
; schedule   tile 2×16
; launch     tiles 1, scratch_bytes 256
; predicted  1.04 µs, 244 B from and to memory
; ModuleID = "matmul_add_relu_c9ec680e8821"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"matmul_add_relu_c9ec680e8821"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
{
entry:
  %".6" = getelementptr ptr, ptr %"arguments", i64 0
  %"in0" = load ptr, ptr %".6"
  %".7" = getelementptr ptr, ptr %"arguments", i64 1
  %"in1" = load ptr, ptr %".7"
  %".8" = getelementptr ptr, ptr %"arguments", i64 2
  %"in2" = load ptr, ptr %".8"
  %".9" = getelementptr ptr, ptr %"arguments", i64 3
  %"out0" = load ptr, ptr %".9"
  %"sum" = alloca <8 x float>
  %"sum.1" = alloca <8 x float>
  %"sum.2" = alloca <8 x float>
  %"sum.3" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i1.after"]
  %".12" = icmp slt i64 %"tile", %"end"
  br i1 %".12", label %"tile.body", label %"tile.after"
tile.body:
  %".14" = add i64 0, 2
  %".15" = add i64 0, 16
  %".16" = add i64 0, 16
  br label %"i1.loop"
tile.after:
  ret void
i1.loop:
  %"i1" = phi  i64 [0, %"tile.body"], [%"i1.next", %"i0.after"]
  %".18" = icmp slt i64 %"i1", %".16"
  br i1 %".18", label %"i1.body", label %"i1.after"
i1.body:
  %".20" = add i64 0, 2
  br label %"i0.loop"
i1.after:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i0.loop:
  %"i0" = phi  i64 [0, %"i1.body"], [%"i0.next", %"i0.body"]
  %".22" = icmp slt i64 %"i0", %".20"
  br i1 %".22", label %"i0.body", label %"i0.after"
i0.body:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.1"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.2"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.3"
  %".28" = mul nsw i64 %"i0", 3
  %".29" = add nsw i64 0, %".28"
  %".30" = getelementptr float, ptr %"in0", i64 %".29"
  %"in0.at" = getelementptr float, ptr %".30", i64 0
  %".32" = load float, ptr %"in0.at", align 4
  %".33" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".32", i32 0
  %"in0.value" = shufflevector <8 x float> %".33", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".35" = mul nsw i64 %"i1", 1
  %".36" = add nsw i64 0, %".35"
  %".37" = getelementptr float, ptr %"in1", i64 %".36"
  %"in1.at" = getelementptr float, ptr %".37", i64 0
  %"in1.value" = load <8 x float>, ptr %"in1.at", align 4
  %"multiply" = fmul contract <8 x float> %"in0.value", %"in1.value"
  %".41" = load <8 x float>, <8 x float>* %"sum"
  %"add" = fadd contract <8 x float> %".41", %"multiply"
  store <8 x float> %"add", <8 x float>* %"sum"
  %"in1.at.1" = getelementptr float, ptr %".37", i64 8
  %"in1.value.1" = load <8 x float>, ptr %"in1.at.1", align 4
  %"multiply.1" = fmul contract <8 x float> %"in0.value", %"in1.value.1"
  %".47" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.1" = fadd contract <8 x float> %".47", %"multiply.1"
  store <8 x float> %"add.1", <8 x float>* %"sum.1"
  %"in0.at.1" = getelementptr float, ptr %".30", i64 3
  %".51" = load float, ptr %"in0.at.1", align 4
  %".52" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".51", i32 0
  %"in0.value.1" = shufflevector <8 x float> %".52", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.2" = fmul contract <8 x float> %"in0.value.1", %"in1.value"
  %".55" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.2" = fadd contract <8 x float> %".55", %"multiply.2"
  store <8 x float> %"add.2", <8 x float>* %"sum.2"
  %"multiply.3" = fmul contract <8 x float> %"in0.value.1", %"in1.value.1"
  %".59" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.3" = fadd contract <8 x float> %".59", %"multiply.3"
  store <8 x float> %"add.3", <8 x float>* %"sum.3"
  %"in0.at.2" = getelementptr float, ptr %".30", i64 1
  %".63" = load float, ptr %"in0.at.2", align 4
  %".64" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".63", i32 0
  %"in0.value.2" = shufflevector <8 x float> %".64", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.2" = getelementptr float, ptr %".37", i64 16
  %"in1.value.2" = load <8 x float>, ptr %"in1.at.2", align 4
  %"multiply.4" = fmul contract <8 x float> %"in0.value.2", %"in1.value.2"
  %".69" = load <8 x float>, <8 x float>* %"sum"
  %"add.4" = fadd contract <8 x float> %".69", %"multiply.4"
  store <8 x float> %"add.4", <8 x float>* %"sum"
  %"in1.at.3" = getelementptr float, ptr %".37", i64 24
  %"in1.value.3" = load <8 x float>, ptr %"in1.at.3", align 4
  %"multiply.5" = fmul contract <8 x float> %"in0.value.2", %"in1.value.3"
  %".75" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.5" = fadd contract <8 x float> %".75", %"multiply.5"
  store <8 x float> %"add.5", <8 x float>* %"sum.1"
  %"in0.at.3" = getelementptr float, ptr %".30", i64 4
  %".79" = load float, ptr %"in0.at.3", align 4
  %".80" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".79", i32 0
  %"in0.value.3" = shufflevector <8 x float> %".80", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.6" = fmul contract <8 x float> %"in0.value.3", %"in1.value.2"
  %".83" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.6" = fadd contract <8 x float> %".83", %"multiply.6"
  store <8 x float> %"add.6", <8 x float>* %"sum.2"
  %"multiply.7" = fmul contract <8 x float> %"in0.value.3", %"in1.value.3"
  %".87" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.7" = fadd contract <8 x float> %".87", %"multiply.7"
  store <8 x float> %"add.7", <8 x float>* %"sum.3"
  %"in0.at.4" = getelementptr float, ptr %".30", i64 2
  %".91" = load float, ptr %"in0.at.4", align 4
  %".92" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".91", i32 0
  %"in0.value.4" = shufflevector <8 x float> %".92", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.4" = getelementptr float, ptr %".37", i64 32
  %"in1.value.4" = load <8 x float>, ptr %"in1.at.4", align 4
  %"multiply.8" = fmul contract <8 x float> %"in0.value.4", %"in1.value.4"
  %".97" = load <8 x float>, <8 x float>* %"sum"
  %"add.8" = fadd contract <8 x float> %".97", %"multiply.8"
  store <8 x float> %"add.8", <8 x float>* %"sum"
  %"in1.at.5" = getelementptr float, ptr %".37", i64 40
  %"in1.value.5" = load <8 x float>, ptr %"in1.at.5", align 4
  %"multiply.9" = fmul contract <8 x float> %"in0.value.4", %"in1.value.5"
  %".103" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.9" = fadd contract <8 x float> %".103", %"multiply.9"
  store <8 x float> %"add.9", <8 x float>* %"sum.1"
  %"in0.at.5" = getelementptr float, ptr %".30", i64 5
  %".107" = load float, ptr %"in0.at.5", align 4
  %".108" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".107", i32 0
  %"in0.value.5" = shufflevector <8 x float> %".108", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.10" = fmul contract <8 x float> %"in0.value.5", %"in1.value.4"
  %".111" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.10" = fadd contract <8 x float> %".111", %"multiply.10"
  store <8 x float> %"add.10", <8 x float>* %"sum.2"
  %"multiply.11" = fmul contract <8 x float> %"in0.value.5", %"in1.value.5"
  %".115" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.11" = fadd contract <8 x float> %".115", %"multiply.11"
  store <8 x float> %"add.11", <8 x float>* %"sum.3"
  %".118" = load <8 x float>, <8 x float>* %"sum"
  %".119" = load <8 x float>, <8 x float>* %"sum.1"
  %".120" = load <8 x float>, <8 x float>* %"sum.2"
  %".121" = load <8 x float>, <8 x float>* %"sum.3"
  %".122" = mul nsw i64 %"i1", 1
  %".123" = add nsw i64 0, %".122"
  %".124" = getelementptr float, ptr %"in2", i64 %".123"
  %"in2.at" = getelementptr float, ptr %".124", i64 0
  %"in2.value" = load <8 x float>, ptr %"in2.at", align 4
  %"add.12" = fadd contract <8 x float> %".118", %"in2.value"
  %"less" = fcmp olt <8 x float> %"add.12", splat (float              0x0)
  %"add.13" = fadd contract <8 x float> %".118", %"in2.value"
  %"where" = select  <8 x i1> %"less", <8 x float> splat (float              0x0), <8 x float> %"add.13"
  %".131" = mul nsw i64 %"i0", 16
  %".132" = add nsw i64 0, %".131"
  %".133" = mul nsw i64 %"i1", 1
  %".134" = add nsw i64 %".132", %".133"
  %".135" = getelementptr float, ptr %"out0", i64 %".134"
  %"out0.at" = getelementptr float, ptr %".135", i64 0
  store <8 x float> %"where", ptr %"out0.at", align 4
  %"in2.at.1" = getelementptr float, ptr %".124", i64 8
  %"in2.value.1" = load <8 x float>, ptr %"in2.at.1", align 4
  %"add.14" = fadd contract <8 x float> %".119", %"in2.value.1"
  %"less.1" = fcmp olt <8 x float> %"add.14", splat (float              0x0)
  %"add.15" = fadd contract <8 x float> %".119", %"in2.value.1"
  %"where.1" = select  <8 x i1> %"less.1", <8 x float> splat (float              0x0), <8 x float> %"add.15"
  %".144" = mul nsw i64 %"i0", 16
  %".145" = add nsw i64 0, %".144"
  %".146" = mul nsw i64 %"i1", 1
  %".147" = add nsw i64 %".145", %".146"
  %".148" = getelementptr float, ptr %"out0", i64 %".147"
  %"out0.at.1" = getelementptr float, ptr %".148", i64 8
  store <8 x float> %"where.1", ptr %"out0.at.1", align 4
  %"add.16" = fadd contract <8 x float> %".120", %"in2.value"
  %"less.2" = fcmp olt <8 x float> %"add.16", splat (float              0x0)
  %"add.17" = fadd contract <8 x float> %".120", %"in2.value"
  %"where.2" = select  <8 x i1> %"less.2", <8 x float> splat (float              0x0), <8 x float> %"add.17"
  %".155" = mul nsw i64 %"i0", 16
  %".156" = add nsw i64 0, %".155"
  %".157" = mul nsw i64 %"i1", 1
  %".158" = add nsw i64 %".156", %".157"
  %".159" = getelementptr float, ptr %"out0", i64 %".158"
  %"out0.at.2" = getelementptr float, ptr %".159", i64 16
  store <8 x float> %"where.2", ptr %"out0.at.2", align 4
  %"add.18" = fadd contract <8 x float> %".121", %"in2.value.1"
  %"less.3" = fcmp olt <8 x float> %"add.18", splat (float              0x0)
  %"add.19" = fadd contract <8 x float> %".121", %"in2.value.1"
  %"where.3" = select  <8 x i1> %"less.3", <8 x float> splat (float              0x0), <8 x float> %"add.19"
  %".166" = mul nsw i64 %"i0", 16
  %".167" = add nsw i64 0, %".166"
  %".168" = mul nsw i64 %"i1", 1
  %".169" = add nsw i64 %".167", %".168"
  %".170" = getelementptr float, ptr %"out0", i64 %".169"
  %"out0.at.3" = getelementptr float, ptr %".170", i64 24
  store <8 x float> %"where.3", ptr %"out0.at.3", align 4
  %"i0.next" = add nsw i64 %"i0", 2
  br label %"i0.loop"
i0.after:
  %"i1.next" = add nsw i64 %"i1", 16
  br label %"i1.loop"
}
