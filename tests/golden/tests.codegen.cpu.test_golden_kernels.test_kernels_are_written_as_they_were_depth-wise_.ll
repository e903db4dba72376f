; for cpu: avx2: conv_2
;   in0 = x: f32[1, 2, 3, 8]
;   in1 = depth: f32[2, 1, 2, 2]
;   out0 = y: f32[1, 2, 2, 8]
;   x.padded$0: f32[i0=1, i1=2, i2=3, i3=9] = x[0, i1, i2, i3 | 0 <= i3 < 8 else 0.0]  # conv_2
;   y: f32[i0=1, i1=2, i2=2, i3=8] = sum(k0=2, k1=2) x.padded$0[0, i1, i2 + k0, i3 + k1] * depth[i1, 0, k0, k1]  # conv_2
; loops      x.padded$0: i0=6 of i1·i2, i1=9 of i3, 2 vectors of 8 along i1
; loops      y: i0=2 of i1, i1=2 of i2, i2=8 of i3, k0=2 of k0, k1=2 of k1, 1 vectors of 8 along i2, 2 of i1 unrolled, k1 unrolled, k0 unrolled
; schedule   tile 1×2×2×8
; launch     tiles 1, scratch_bytes 512
; predicted  1.10 µs, 176 B from and to memory
; ModuleID = "conv_4cac99c9a680"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"conv_4cac99c9a680"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
{
entry:
  %".6" = getelementptr ptr, ptr %"arguments", i64 0
  %"in0" = load ptr, ptr %".6"
  %".7" = getelementptr ptr, ptr %"arguments", i64 1
  %"in1" = load ptr, ptr %".7"
  %".8" = getelementptr ptr, ptr %"arguments", i64 2
  %"out0" = load ptr, ptr %".8"
  %"tmp0" = getelementptr i8, ptr %"scratch", i64 0
  %"sum" = alloca <8 x float>
  %"sum.1" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i0.after.1"]
  %".12" = icmp slt i64 %"tile", %"end"
  br i1 %".12", label %"tile.body", label %"tile.after"
tile.body:
  %".14" = mul i64 0, -54
  %".15" = add i64 0, %".14"
  %".16" = mul i64 0, -27
  %".17" = add i64 %".15", %".16"
  %".18" = mul i64 0, -9
  %".19" = add i64 %".17", %".18"
  %".20" = mul i64 0, -1
  %".21" = add i64 %".19", %".20"
  %".22" = mul i64 %".21", 4
  %"tmp0.origin" = getelementptr i8, ptr %"tmp0", i64 %".22"
  %".24" = add i64 0, 1
  %".25" = add i64 0, 2
  %".26" = add i64 0, 3
  %".27" = add i64 0, 9
  %".28" = mul i64 0, 3
  %".29" = mul i64 %".25", 3
  br label %"i0.loop"
tile.after:
  ret void
i0.loop:
  %"i0" = phi  i64 [%".28", %"tile.body"], [%"i0.next", %"i0.body"]
  %".31" = icmp slt i64 %"i0", %".29"
  br i1 %".31", label %"i0.body", label %"i0.after"
i0.body:
  %".33" = add i64 0, 0
  %".34" = mul nsw i64 %".33", 1
  %".35" = add nsw i64 0, %".34"
  %".36" = mul nsw i64 %"i0", 8
  %".37" = add nsw i64 %".35", %".36"
  %".38" = getelementptr float, ptr %"in0", i64 %".37"
  %"in0.at" = getelementptr float, ptr %".38", i64 0
  %".40" = add i64 %".33", 0
  %".41" = add i64 %".33", 0
  %".42" = trunc i64 %".41" to i32
  %".43" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".42", i32 0
  %".44" = shufflevector <8 x i32> %".43", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".45" = add <8 x i32> %".44", <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".46" = add <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>, %".45"
  %".47" = icmp sge <8 x i32> %".46", <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".48" = icmp slt <8 x i32> %".46", <i32 8, i32 8, i32 8, i32 8, i32 8, i32 8, i32 8, i32 8>
  %".49" = and <8 x i1> %".47", %".48"
  %".50" = and <8 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1>, %".49"
  %"in0.value" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"in0.at", i32 4, <8 x i1> %".50", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".52" = mul nsw i64 %".33", 1
  %".53" = add nsw i64 0, %".52"
  %".54" = mul nsw i64 %"i0", 9
  %".55" = add nsw i64 %".53", %".54"
  %".56" = getelementptr float, ptr %"tmp0.origin", i64 %".55"
  %"tmp0.origin.at" = getelementptr float, ptr %".56", i64 0
  store <8 x float> %"in0.value", ptr %"tmp0.origin.at", align 4
  %".59" = add i64 0, 8
  %".60" = sub i64 %".27", %".59"
  %".61" = trunc i64 %".60" to i32
  %".62" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".61", i32 0
  %".63" = shufflevector <8 x i32> %".62", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".64" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".63"
  %".65" = mul nsw i64 %".59", 1
  %".66" = add nsw i64 0, %".65"
  %".67" = mul nsw i64 %"i0", 8
  %".68" = add nsw i64 %".66", %".67"
  %".69" = getelementptr float, ptr %"in0", i64 %".68"
  %"in0.at.1" = getelementptr float, ptr %".69", i64 0
  %".71" = add i64 %".59", 0
  %".72" = add i64 %".59", 0
  %".73" = trunc i64 %".72" to i32
  %".74" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".73", i32 0
  %".75" = shufflevector <8 x i32> %".74", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".76" = add <8 x i32> %".75", <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".77" = select  <8 x i1> %".64", <8 x i32> %".76", <8 x i32> %".75"
  %".78" = add <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>, %".77"
  %".79" = icmp sge <8 x i32> %".78", <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".80" = icmp slt <8 x i32> %".78", <i32 8, i32 8, i32 8, i32 8, i32 8, i32 8, i32 8, i32 8>
  %".81" = and <8 x i1> %".79", %".80"
  %".82" = and <8 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1>, %".81"
  %".83" = and <8 x i1> %".82", %".64"
  %"in0.value.1" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"in0.at.1", i32 4, <8 x i1> %".83", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".85" = mul nsw i64 %".59", 1
  %".86" = add nsw i64 0, %".85"
  %".87" = mul nsw i64 %"i0", 9
  %".88" = add nsw i64 %".86", %".87"
  %".89" = getelementptr float, ptr %"tmp0.origin", i64 %".88"
  %"tmp0.origin.at.1" = getelementptr float, ptr %".89", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %"in0.value.1", ptr %"tmp0.origin.at.1", i32 4, <8 x i1> %".64")
  %"i0.next" = add nsw i64 %"i0", 1
  br label %"i0.loop"
i0.after:
  %".93" = add i64 0, 1
  %".94" = add i64 0, 2
  %".95" = add i64 0, 2
  %".96" = add i64 0, 8
  br label %"i0.loop.1"
i0.loop.1:
  %"i0.1" = phi  i64 [0, %"i0.after"], [%"i0.next.1", %"i1.after"]
  %".98" = icmp slt i64 %"i0.1", %".94"
  br i1 %".98", label %"i0.body.1", label %"i0.after.1"
i0.body.1:
  %".100" = add i64 0, 2
  br label %"i1.loop"
i0.after.1:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i1.loop:
  %"i1" = phi  i64 [0, %"i0.body.1"], [%"i1.next", %"i2.after"]
  %".102" = icmp slt i64 %"i1", %".100"
  br i1 %".102", label %"i1.body", label %"i1.after"
i1.body:
  %".104" = add i64 0, 8
  br label %"i2.loop"
i1.after:
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  br label %"i0.loop.1"
i2.loop:
  %"i2" = phi  i64 [0, %"i1.body"], [%"i2.next", %"i2.body"]
  %".106" = icmp slt i64 %"i2", %".104"
  br i1 %".106", label %"i2.body", label %"i2.after"
i2.body:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.1"
  %".110" = mul nsw i64 %"i0.1", 27
  %".111" = add nsw i64 0, %".110"
  %".112" = mul nsw i64 %"i1", 9
  %".113" = add nsw i64 %".111", %".112"
  %".114" = mul nsw i64 %"i2", 1
  %".115" = add nsw i64 %".113", %".114"
  %".116" = getelementptr float, ptr %"tmp0.origin", i64 %".115"
  %"tmp0.origin.at.2" = getelementptr float, ptr %".116", i64 0
  %"tmp0.origin.value" = load <8 x float>, ptr %"tmp0.origin.at.2", align 4
  %".119" = mul nsw i64 %"i0.1", 4
  %".120" = add nsw i64 0, %".119"
  %".121" = getelementptr float, ptr %"in1", i64 %".120"
  %"in1.at" = getelementptr float, ptr %".121", i64 0
  %".123" = load float, ptr %"in1.at", align 4
  %".124" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".123", i32 0
  %"in1.value" = shufflevector <8 x float> %".124", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply" = fmul contract <8 x float> %"tmp0.origin.value", %"in1.value"
  %".127" = load <8 x float>, <8 x float>* %"sum"
  %"add" = fadd contract <8 x float> %".127", %"multiply"
  store <8 x float> %"add", <8 x float>* %"sum"
  %"tmp0.origin.at.3" = getelementptr float, ptr %".116", i64 9
  %"tmp0.origin.value.1" = load <8 x float>, ptr %"tmp0.origin.at.3", align 4
  %"multiply.1" = fmul contract <8 x float> %"tmp0.origin.value.1", %"in1.value"
  %".133" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.1" = fadd contract <8 x float> %".133", %"multiply.1"
  store <8 x float> %"add.1", <8 x float>* %"sum.1"
  %"tmp0.origin.at.4" = getelementptr float, ptr %".116", i64 9
  %"tmp0.origin.value.2" = load <8 x float>, ptr %"tmp0.origin.at.4", align 4
  %"in1.at.1" = getelementptr float, ptr %".121", i64 2
  %".139" = load float, ptr %"in1.at.1", align 4
  %".140" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".139", i32 0
  %"in1.value.1" = shufflevector <8 x float> %".140", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.2" = fmul contract <8 x float> %"tmp0.origin.value.2", %"in1.value.1"
  %".143" = load <8 x float>, <8 x float>* %"sum"
  %"add.2" = fadd contract <8 x float> %".143", %"multiply.2"
  store <8 x float> %"add.2", <8 x float>* %"sum"
  %"tmp0.origin.at.5" = getelementptr float, ptr %".116", i64 18
  %"tmp0.origin.value.3" = load <8 x float>, ptr %"tmp0.origin.at.5", align 4
  %"multiply.3" = fmul contract <8 x float> %"tmp0.origin.value.3", %"in1.value.1"
  %".149" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.3" = fadd contract <8 x float> %".149", %"multiply.3"
  store <8 x float> %"add.3", <8 x float>* %"sum.1"
  %"tmp0.origin.at.6" = getelementptr float, ptr %".116", i64 1
  %"tmp0.origin.value.4" = load <8 x float>, ptr %"tmp0.origin.at.6", align 4
  %"in1.at.2" = getelementptr float, ptr %".121", i64 1
  %".155" = load float, ptr %"in1.at.2", align 4
  %".156" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".155", i32 0
  %"in1.value.2" = shufflevector <8 x float> %".156", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.4" = fmul contract <8 x float> %"tmp0.origin.value.4", %"in1.value.2"
  %".159" = load <8 x float>, <8 x float>* %"sum"
  %"add.4" = fadd contract <8 x float> %".159", %"multiply.4"
  store <8 x float> %"add.4", <8 x float>* %"sum"
  %"tmp0.origin.at.7" = getelementptr float, ptr %".116", i64 10
  %"tmp0.origin.value.5" = load <8 x float>, ptr %"tmp0.origin.at.7", align 4
  %"multiply.5" = fmul contract <8 x float> %"tmp0.origin.value.5", %"in1.value.2"
  %".165" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.5" = fadd contract <8 x float> %".165", %"multiply.5"
  store <8 x float> %"add.5", <8 x float>* %"sum.1"
  %"tmp0.origin.at.8" = getelementptr float, ptr %".116", i64 10
  %"tmp0.origin.value.6" = load <8 x float>, ptr %"tmp0.origin.at.8", align 4
  %"in1.at.3" = getelementptr float, ptr %".121", i64 3
  %".171" = load float, ptr %"in1.at.3", align 4
  %".172" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".171", i32 0
  %"in1.value.3" = shufflevector <8 x float> %".172", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.6" = fmul contract <8 x float> %"tmp0.origin.value.6", %"in1.value.3"
  %".175" = load <8 x float>, <8 x float>* %"sum"
  %"add.6" = fadd contract <8 x float> %".175", %"multiply.6"
  store <8 x float> %"add.6", <8 x float>* %"sum"
  %"tmp0.origin.at.9" = getelementptr float, ptr %".116", i64 19
  %"tmp0.origin.value.7" = load <8 x float>, ptr %"tmp0.origin.at.9", align 4
  %"multiply.7" = fmul contract <8 x float> %"tmp0.origin.value.7", %"in1.value.3"
  %".181" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.7" = fadd contract <8 x float> %".181", %"multiply.7"
  store <8 x float> %"add.7", <8 x float>* %"sum.1"
  %".184" = load <8 x float>, <8 x float>* %"sum"
  %".185" = load <8 x float>, <8 x float>* %"sum.1"
  %".186" = mul nsw i64 %"i0.1", 16
  %".187" = add nsw i64 0, %".186"
  %".188" = mul nsw i64 %"i1", 8
  %".189" = add nsw i64 %".187", %".188"
  %".190" = mul nsw i64 %"i2", 1
  %".191" = add nsw i64 %".189", %".190"
  %".192" = getelementptr float, ptr %"out0", i64 %".191"
  %"out0.at" = getelementptr float, ptr %".192", i64 0
  store <8 x float> %".184", ptr %"out0.at", align 4
  %".195" = mul nsw i64 %"i0.1", 16
  %".196" = add nsw i64 0, %".195"
  %".197" = mul nsw i64 %"i1", 8
  %".198" = add nsw i64 %".196", %".197"
  %".199" = mul nsw i64 %"i2", 1
  %".200" = add nsw i64 %".198", %".199"
  %".201" = getelementptr float, ptr %"out0", i64 %".200"
  %"out0.at.1" = getelementptr float, ptr %".201", i64 8
  store <8 x float> %".185", ptr %"out0.at.1", align 4
  %"i2.next" = add nsw i64 %"i2", 8
  br label %"i2.loop"
i2.after:
  %"i1.next" = add nsw i64 %"i1", 2
  br label %"i1.loop"
}

declare <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %".1", i32 %".2", <8 x i1> %".3", <8 x float> %".4")

declare void @"llvm.masked.store.v8f32.p0"(<8 x float> %".1", ptr %".2", i32 %".3", <8 x i1> %".4")
