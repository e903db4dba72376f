; for cpu: avx2: layernormalization_2
;   in0 = x: f32[4, 16]
;   in1 = gain: f32[16]
;   in2 = bias: f32[16]
;   out0 = y: f32[4, 16]
;   y.mean$0: f32[i0=4, i1=1] = sum(k0=16) x[i0, k0] then acc / 16  # layernormalization_2
;   y.inverse$0: f32[i0=4, i1=1] = sum(k0=16) (x[i0, k0] - y.mean$0[i0, 0]) * (x[i0, k0] - y.mean$0[i0, 0]) then reciprocal(sqrt(acc / 16 + 1e-05))  # layernormalization_2
;   y: f32[i0=4, i1=16] = (x[i0, i1] - y.mean$0[i0, 0]) * y.inverse$0[i0, 0] * gain[i1] + bias[i1]  # layernormalization_2
; loops      y.mean$0: i0=4 of i0, k0=16 of k0, 2 vectors of 8 summed along k0
; loops      y.inverse$0: i0=4 of i0, k0=16 of k0, 2 vectors of 8 summed along k0
; loops      y: i0=4 of i0, i1=16 of i1, 2 vectors of 8 along i1
; schedule   tile 4×16
; launch     tiles 1, scratch_bytes 640
; predicted  1.15 µs, 320 B from and to memory
; ModuleID = "layernormalization_d959a063446f"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"layernormalization_d959a063446f"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
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
  %"tmp0" = getelementptr i8, ptr %"scratch", i64 0
  %"tmp1" = getelementptr i8, ptr %"scratch", i64 320
  %"sum" = alloca <8 x float>
  %"sum.1" = alloca <8 x float>
  %"sum.2" = alloca <8 x float>
  %"sum.3" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i0.after.2"]
  %".14" = icmp slt i64 %"tile", %"end"
  br i1 %".14", label %"tile.body", label %"tile.after"
tile.body:
  %".16" = mul i64 0, -1
  %".17" = add i64 0, %".16"
  %".18" = mul i64 0, -1
  %".19" = add i64 %".17", %".18"
  %".20" = mul i64 %".19", 4
  %"tmp0.origin" = getelementptr i8, ptr %"tmp0", i64 %".20"
  %".22" = mul i64 0, -1
  %".23" = add i64 0, %".22"
  %".24" = mul i64 0, -1
  %".25" = add i64 %".23", %".24"
  %".26" = mul i64 %".25", 4
  %"tmp1.origin" = getelementptr i8, ptr %"tmp1", i64 %".26"
  %".28" = add i64 0, 4
  %".29" = add i64 0, 1
  br label %"i0.loop"
tile.after:
  ret void
i0.loop:
  %"i0" = phi  i64 [0, %"tile.body"], [%"i0.next", %"k0.after"]
  %".31" = icmp slt i64 %"i0", %".28"
  br i1 %".31", label %"i0.body", label %"i0.after"
i0.body:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.1"
  %".35" = add i64 0, 16
  br label %"k0.loop"
i0.after:
  %".76" = add i64 0, 4
  %".77" = add i64 0, 1
  br label %"i0.loop.1"
k0.loop:
  %"k0" = phi  i64 [0, %"i0.body"], [%"k0.next", %"k0.body"]
  %".37" = icmp slt i64 %"k0", %".35"
  br i1 %".37", label %"k0.body", label %"k0.after"
k0.body:
  %".39" = mul nsw i64 %"i0", 16
  %".40" = add nsw i64 0, %".39"
  %".41" = mul nsw i64 %"k0", 1
  %".42" = add nsw i64 %".40", %".41"
  %".43" = getelementptr float, ptr %"in0", i64 %".42"
  %"in0.at" = getelementptr float, ptr %".43", i64 0
  %"in0.value" = load <8 x float>, ptr %"in0.at", align 4
  %".46" = load <8 x float>, <8 x float>* %"sum"
  %"add" = fadd contract <8 x float> %".46", %"in0.value"
  store <8 x float> %"add", <8 x float>* %"sum"
  %"in0.at.1" = getelementptr float, ptr %".43", i64 8
  %"in0.value.1" = load <8 x float>, ptr %"in0.at.1", align 4
  %".51" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.1" = fadd contract <8 x float> %".51", %"in0.value.1"
  store <8 x float> %"add.1", <8 x float>* %"sum.1"
  %"k0.next" = add nsw i64 %"k0", 16
  br label %"k0.loop"
k0.after:
  %".55" = load <8 x float>, <8 x float>* %"sum"
  %".56" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.2" = fadd contract <8 x float> %".55", %".56"
  %".58" = shufflevector <8 x float> %"add.2", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".59" = shufflevector <8 x float> %"add.2", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %"add.3" = fadd contract <4 x float> %".58", %".59"
  %".61" = shufflevector <4 x float> %"add.3", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".62" = shufflevector <4 x float> %"add.3", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %"add.4" = fadd contract <2 x float> %".61", %".62"
  %".64" = shufflevector <2 x float> %"add.4", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".65" = shufflevector <2 x float> %"add.4", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".66" = extractelement <1 x float> %".64", i32 0
  %".67" = extractelement <1 x float> %".65", i32 0
  %"add.5" = fadd contract float %".66", %".67"
  %"divide" = fdiv float %"add.5", 0x4030000000000000
  %".70" = mul nsw i64 %"i0", 1
  %".71" = add nsw i64 0, %".70"
  %".72" = getelementptr float, ptr %"tmp0.origin", i64 %".71"
  %"tmp0.origin.at" = getelementptr float, ptr %".72", i64 0
  store float %"divide", ptr %"tmp0.origin.at", align 4
  %"i0.next" = add nsw i64 %"i0", 1
  br label %"i0.loop"
i0.loop.1:
  %"i0.1" = phi  i64 [0, %"i0.after"], [%"i0.next.1", %"k0.after.1"]
  %".79" = icmp slt i64 %"i0.1", %".76"
  br i1 %".79", label %"i0.body.1", label %"i0.after.1"
i0.body.1:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.2"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.3"
  %".83" = add i64 0, 16
  br label %"k0.loop.1"
i0.after.1:
  %".140" = add i64 0, 4
  %".141" = add i64 0, 16
  br label %"i0.loop.2"
k0.loop.1:
  %"k0.1" = phi  i64 [0, %"i0.body.1"], [%"k0.next.1", %"k0.body.1"]
  %".85" = icmp slt i64 %"k0.1", %".83"
  br i1 %".85", label %"k0.body.1", label %"k0.after.1"
k0.body.1:
  %".87" = mul nsw i64 %"i0.1", 16
  %".88" = add nsw i64 0, %".87"
  %".89" = mul nsw i64 %"k0.1", 1
  %".90" = add nsw i64 %".88", %".89"
  %".91" = getelementptr float, ptr %"in0", i64 %".90"
  %"in0.at.2" = getelementptr float, ptr %".91", i64 0
  %"in0.value.2" = load <8 x float>, ptr %"in0.at.2", align 4
  %".94" = mul nsw i64 %"i0.1", 1
  %".95" = add nsw i64 0, %".94"
  %".96" = getelementptr float, ptr %"tmp0.origin", i64 %".95"
  %"tmp0.origin.at.1" = getelementptr float, ptr %".96", i64 0
  %".98" = load float, ptr %"tmp0.origin.at.1", align 4
  %".99" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".98", i32 0
  %"tmp0.origin.value" = shufflevector <8 x float> %".99", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"subtract" = fsub contract <8 x float> %"in0.value.2", %"tmp0.origin.value"
  %"subtract.1" = fsub contract <8 x float> %"in0.value.2", %"tmp0.origin.value"
  %"multiply" = fmul contract <8 x float> %"subtract", %"subtract.1"
  %".104" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.6" = fadd contract <8 x float> %".104", %"multiply"
  store <8 x float> %"add.6", <8 x float>* %"sum.2"
  %"in0.at.3" = getelementptr float, ptr %".91", i64 8
  %"in0.value.3" = load <8 x float>, ptr %"in0.at.3", align 4
  %"subtract.2" = fsub contract <8 x float> %"in0.value.3", %"tmp0.origin.value"
  %"subtract.3" = fsub contract <8 x float> %"in0.value.3", %"tmp0.origin.value"
  %"multiply.1" = fmul contract <8 x float> %"subtract.2", %"subtract.3"
  %".112" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.7" = fadd contract <8 x float> %".112", %"multiply.1"
  store <8 x float> %"add.7", <8 x float>* %"sum.3"
  %"k0.next.1" = add nsw i64 %"k0.1", 16
  br label %"k0.loop.1"
k0.after.1:
  %".116" = load <8 x float>, <8 x float>* %"sum.2"
  %".117" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.8" = fadd contract <8 x float> %".116", %".117"
  %".119" = shufflevector <8 x float> %"add.8", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".120" = shufflevector <8 x float> %"add.8", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %"add.9" = fadd contract <4 x float> %".119", %".120"
  %".122" = shufflevector <4 x float> %"add.9", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".123" = shufflevector <4 x float> %"add.9", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %"add.10" = fadd contract <2 x float> %".122", %".123"
  %".125" = shufflevector <2 x float> %"add.10", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".126" = shufflevector <2 x float> %"add.10", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".127" = extractelement <1 x float> %".125", i32 0
  %".128" = extractelement <1 x float> %".126", i32 0
  %"add.11" = fadd contract float %".127", %".128"
  %"divide.1" = fdiv float %"add.11", 0x4030000000000000
  %"add.12" = fadd contract float %"divide.1", 0x3ee4f8b580000000
  %"sqrt" = call float @"llvm.sqrt.f32"(float %"add.12")
  %"reciprocal" = fdiv float 0x3ff0000000000000, %"sqrt"
  %".134" = mul nsw i64 %"i0.1", 1
  %".135" = add nsw i64 0, %".134"
  %".136" = getelementptr float, ptr %"tmp1.origin", i64 %".135"
  %"tmp1.origin.at" = getelementptr float, ptr %".136", i64 0
  store float %"reciprocal", ptr %"tmp1.origin.at", align 4
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  br label %"i0.loop.1"
i0.loop.2:
  %"i0.2" = phi  i64 [0, %"i0.after.1"], [%"i0.next.2", %"i1.after"]
  %".143" = icmp slt i64 %"i0.2", %".140"
  br i1 %".143", label %"i0.body.2", label %"i0.after.2"
i0.body.2:
  %".145" = add i64 0, 16
  br label %"i1.loop"
i0.after.2:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i1.loop:
  %"i1" = phi  i64 [0, %"i0.body.2"], [%"i1.next", %"i1.body"]
  %".147" = icmp slt i64 %"i1", %".145"
  br i1 %".147", label %"i1.body", label %"i1.after"
i1.body:
  %".149" = mul nsw i64 %"i0.2", 16
  %".150" = add nsw i64 0, %".149"
  %".151" = mul nsw i64 %"i1", 1
  %".152" = add nsw i64 %".150", %".151"
  %".153" = getelementptr float, ptr %"in0", i64 %".152"
  %"in0.at.4" = getelementptr float, ptr %".153", i64 0
  %"in0.value.4" = load <8 x float>, ptr %"in0.at.4", align 4
  %".156" = mul nsw i64 %"i0.2", 1
  %".157" = add nsw i64 0, %".156"
  %".158" = getelementptr float, ptr %"tmp0.origin", i64 %".157"
  %"tmp0.origin.at.2" = getelementptr float, ptr %".158", i64 0
  %".160" = load float, ptr %"tmp0.origin.at.2", align 4
  %".161" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".160", i32 0
  %"tmp0.origin.value.1" = shufflevector <8 x float> %".161", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"subtract.4" = fsub contract <8 x float> %"in0.value.4", %"tmp0.origin.value.1"
  %".164" = mul nsw i64 %"i0.2", 1
  %".165" = add nsw i64 0, %".164"
  %".166" = getelementptr float, ptr %"tmp1.origin", i64 %".165"
  %"tmp1.origin.at.1" = getelementptr float, ptr %".166", i64 0
  %".168" = load float, ptr %"tmp1.origin.at.1", align 4
  %".169" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".168", i32 0
  %"tmp1.origin.value" = shufflevector <8 x float> %".169", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.2" = fmul contract <8 x float> %"subtract.4", %"tmp1.origin.value"
  %".172" = mul nsw i64 %"i1", 1
  %".173" = add nsw i64 0, %".172"
  %".174" = getelementptr float, ptr %"in1", i64 %".173"
  %"in1.at" = getelementptr float, ptr %".174", i64 0
  %"in1.value" = load <8 x float>, ptr %"in1.at", align 4
  %"multiply.3" = fmul contract <8 x float> %"multiply.2", %"in1.value"
  %".178" = mul nsw i64 %"i1", 1
  %".179" = add nsw i64 0, %".178"
  %".180" = getelementptr float, ptr %"in2", i64 %".179"
  %"in2.at" = getelementptr float, ptr %".180", i64 0
  %"in2.value" = load <8 x float>, ptr %"in2.at", align 4
  %"add.13" = fadd contract <8 x float> %"multiply.3", %"in2.value"
  %".184" = mul nsw i64 %"i0.2", 16
  %".185" = add nsw i64 0, %".184"
  %".186" = mul nsw i64 %"i1", 1
  %".187" = add nsw i64 %".185", %".186"
  %".188" = getelementptr float, ptr %"out0", i64 %".187"
  %"out0.at" = getelementptr float, ptr %".188", i64 0
  store <8 x float> %"add.13", ptr %"out0.at", align 4
  %"in0.at.5" = getelementptr float, ptr %".153", i64 8
  %"in0.value.5" = load <8 x float>, ptr %"in0.at.5", align 4
  %"subtract.5" = fsub contract <8 x float> %"in0.value.5", %"tmp0.origin.value.1"
  %"multiply.4" = fmul contract <8 x float> %"subtract.5", %"tmp1.origin.value"
  %"in1.at.1" = getelementptr float, ptr %".174", i64 8
  %"in1.value.1" = load <8 x float>, ptr %"in1.at.1", align 4
  %"multiply.5" = fmul contract <8 x float> %"multiply.4", %"in1.value.1"
  %"in2.at.1" = getelementptr float, ptr %".180", i64 8
  %"in2.value.1" = load <8 x float>, ptr %"in2.at.1", align 4
  %"add.14" = fadd contract <8 x float> %"multiply.5", %"in2.value.1"
  %".201" = mul nsw i64 %"i0.2", 16
  %".202" = add nsw i64 0, %".201"
  %".203" = mul nsw i64 %"i1", 1
  %".204" = add nsw i64 %".202", %".203"
  %".205" = getelementptr float, ptr %"out0", i64 %".204"
  %"out0.at.1" = getelementptr float, ptr %".205", i64 8
  store <8 x float> %"add.14", ptr %"out0.at.1", align 4
  %"i1.next" = add nsw i64 %"i1", 16
  br label %"i1.loop"
i1.after:
  %"i0.next.2" = add nsw i64 %"i0.2", 1
  br label %"i0.loop.2"
}

declare float @"llvm.sqrt.f32"(float %".1")
