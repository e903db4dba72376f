; for cpu: avx2: cast_2, matmul_2, cast_3
;   in0 = x: f32[2, 8]
;   in1 = `halves|y|2 of k0|y|i1:16`: i32[1, 4, 16], packed
;   out0 = y: f32[2, 16]
;   h: bf16[i0=2, i1=8] = bf16(x[i0, i1])  # cast_2
;   y: f32[i0=2, i1=16] = sum(k0=8) f32(h[i0, k0]) * f32(halves[k0, i1]) then f32(bf16(acc))  # matmul_2, cast_3
; loops      h: i0=16 of i0·i1, 2 vectors of 8 along i0
; loops      y: i0=2 of i0, i1=16 of i1, k0=4 of k0/2, 2 vectors of 8 along i1, 2 of i0 unrolled, k0 unrolled
; schedule   tile 2×16
; launch     tiles 1, scratch_bytes 320
; predicted  1.08 µs, 224 B from and to memory
; ModuleID = "cast_matmul_8cc4a058a2ec"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"cast_matmul_8cc4a058a2ec"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
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
  %".14" = mul i64 0, -8
  %".15" = add i64 0, %".14"
  %".16" = mul i64 0, -1
  %".17" = add i64 %".15", %".16"
  %".18" = mul i64 %".17", 2
  %"tmp0.origin" = getelementptr i8, ptr %"tmp0", i64 %".18"
  %".20" = add i64 0, 2
  %".21" = add i64 0, 8
  %".22" = mul i64 0, 8
  %".23" = mul i64 %".20", 8
  %".24" = add i64 %".22", 16
  br label %"i0.loop"
tile.after:
  ret void
i0.loop:
  %"i0" = phi  i64 [%".22", %"tile.body"], [%"i0.next", %"i0.body"]
  %".26" = icmp slt i64 %"i0", %".24"
  br i1 %".26", label %"i0.body", label %"i0.after"
i0.body:
  %".28" = mul nsw i64 %"i0", 1
  %".29" = add nsw i64 0, %".28"
  %".30" = getelementptr float, ptr %"in0", i64 %".29"
  %"in0.at" = getelementptr float, ptr %".30", i64 0
  %"in0.value" = load <8 x float>, ptr %"in0.at", align 4
  %".33" = call <8 x i16> @"burnish.narrow_bf16.f32.8"(<8 x float> %"in0.value")
  %".34" = mul nsw i64 %"i0", 1
  %".35" = add nsw i64 0, %".34"
  %".36" = getelementptr i16, ptr %"tmp0.origin", i64 %".35"
  %"tmp0.origin.at" = getelementptr i16, ptr %".36", i64 0
  store <8 x i16> %".33", ptr %"tmp0.origin.at", align 2
  %"in0.at.1" = getelementptr float, ptr %".30", i64 8
  %"in0.value.1" = load <8 x float>, ptr %"in0.at.1", align 4
  %".41" = call <8 x i16> @"burnish.narrow_bf16.f32.8"(<8 x float> %"in0.value.1")
  %".42" = mul nsw i64 %"i0", 1
  %".43" = add nsw i64 0, %".42"
  %".44" = getelementptr i16, ptr %"tmp0.origin", i64 %".43"
  %"tmp0.origin.at.1" = getelementptr i16, ptr %".44", i64 8
  store <8 x i16> %".41", ptr %"tmp0.origin.at.1", align 2
  %"i0.next" = add nsw i64 %"i0", 16
  br label %"i0.loop"
i0.after:
  %".48" = add i64 0, 2
  %".49" = add i64 0, 16
  %".50" = add i64 0, 16
  br label %"i1.loop"
i1.loop:
  %"i1" = phi  i64 [0, %"i0.after"], [%"i1.next", %"i0.after.1"]
  %".52" = icmp slt i64 %"i1", %".50"
  br i1 %".52", label %"i1.body", label %"i1.after"
i1.body:
  %".54" = add i64 0, 2
  br label %"i0.loop.1"
i1.after:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i0.loop.1:
  %"i0.1" = phi  i64 [0, %"i1.body"], [%"i0.next.1", %"i0.body.1"]
  %".56" = icmp slt i64 %"i0.1", %".54"
  br i1 %".56", label %"i0.body.1", label %"i0.after.1"
i0.body.1:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.1"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.2"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.3"
  %".62" = load <8 x float>, <8 x float>* %"sum"
  %".63" = mul nsw i64 %"i0.1", 4
  %".64" = add nsw i64 0, %".63"
  %".65" = getelementptr i32, ptr %"tmp0.origin", i64 %".64"
  %"tmp0.origin.at.2" = getelementptr i32, ptr %".65", i64 0
  %".67" = load i32, ptr %"tmp0.origin.at.2", align 4
  %".68" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".67", i32 0
  %"tmp0.origin.value" = shufflevector <8 x i32> %".68", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".70" = udiv i64 %"i1", 16
  %".71" = urem i64 %"i1", 16
  %".72" = mul i64 %".70", 64
  %".73" = add i64 0, %".72"
  %".74" = add i64 %".73", %".71"
  %".75" = getelementptr i32, ptr %"in1", i64 %".74"
  %"in1.at" = getelementptr i32, ptr %".75", i64 0
  %"in1.value" = load <8 x i32>, ptr %"in1.at", align 4
  %".78" = bitcast <8 x i32> %"tmp0.origin.value" to <8 x float>
  %".79" = bitcast <8 x i32> %"in1.value" to <8 x float>
  %".80" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".62", <8 x float> %".78", <8 x float> %".79")
  store <8 x float> %".80", <8 x float>* %"sum"
  %".82" = load <8 x float>, <8 x float>* %"sum.1"
  %"in1.at.1" = getelementptr i32, ptr %".75", i64 8
  %"in1.value.1" = load <8 x i32>, ptr %"in1.at.1", align 4
  %".85" = bitcast <8 x i32> %"tmp0.origin.value" to <8 x float>
  %".86" = bitcast <8 x i32> %"in1.value.1" to <8 x float>
  %".87" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".82", <8 x float> %".85", <8 x float> %".86")
  store <8 x float> %".87", <8 x float>* %"sum.1"
  %".89" = load <8 x float>, <8 x float>* %"sum.2"
  %"tmp0.origin.at.3" = getelementptr i32, ptr %".65", i64 4
  %".91" = load i32, ptr %"tmp0.origin.at.3", align 4
  %".92" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".91", i32 0
  %"tmp0.origin.value.1" = shufflevector <8 x i32> %".92", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".94" = bitcast <8 x i32> %"tmp0.origin.value.1" to <8 x float>
  %".95" = bitcast <8 x i32> %"in1.value" to <8 x float>
  %".96" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".89", <8 x float> %".94", <8 x float> %".95")
  store <8 x float> %".96", <8 x float>* %"sum.2"
  %".98" = load <8 x float>, <8 x float>* %"sum.3"
  %".99" = bitcast <8 x i32> %"tmp0.origin.value.1" to <8 x float>
  %".100" = bitcast <8 x i32> %"in1.value.1" to <8 x float>
  %".101" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".98", <8 x float> %".99", <8 x float> %".100")
  store <8 x float> %".101", <8 x float>* %"sum.3"
  %".103" = load <8 x float>, <8 x float>* %"sum"
  %"tmp0.origin.at.4" = getelementptr i32, ptr %".65", i64 1
  %".105" = load i32, ptr %"tmp0.origin.at.4", align 4
  %".106" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".105", i32 0
  %"tmp0.origin.value.2" = shufflevector <8 x i32> %".106", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.2" = getelementptr i32, ptr %".75", i64 16
  %"in1.value.2" = load <8 x i32>, ptr %"in1.at.2", align 4
  %".110" = bitcast <8 x i32> %"tmp0.origin.value.2" to <8 x float>
  %".111" = bitcast <8 x i32> %"in1.value.2" to <8 x float>
  %".112" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".103", <8 x float> %".110", <8 x float> %".111")
  store <8 x float> %".112", <8 x float>* %"sum"
  %".114" = load <8 x float>, <8 x float>* %"sum.1"
  %"in1.at.3" = getelementptr i32, ptr %".75", i64 24
  %"in1.value.3" = load <8 x i32>, ptr %"in1.at.3", align 4
  %".117" = bitcast <8 x i32> %"tmp0.origin.value.2" to <8 x float>
  %".118" = bitcast <8 x i32> %"in1.value.3" to <8 x float>
  %".119" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".114", <8 x float> %".117", <8 x float> %".118")
  store <8 x float> %".119", <8 x float>* %"sum.1"
  %".121" = load <8 x float>, <8 x float>* %"sum.2"
  %"tmp0.origin.at.5" = getelementptr i32, ptr %".65", i64 5
  %".123" = load i32, ptr %"tmp0.origin.at.5", align 4
  %".124" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".123", i32 0
  %"tmp0.origin.value.3" = shufflevector <8 x i32> %".124", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".126" = bitcast <8 x i32> %"tmp0.origin.value.3" to <8 x float>
  %".127" = bitcast <8 x i32> %"in1.value.2" to <8 x float>
  %".128" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".121", <8 x float> %".126", <8 x float> %".127")
  store <8 x float> %".128", <8 x float>* %"sum.2"
  %".130" = load <8 x float>, <8 x float>* %"sum.3"
  %".131" = bitcast <8 x i32> %"tmp0.origin.value.3" to <8 x float>
  %".132" = bitcast <8 x i32> %"in1.value.3" to <8 x float>
  %".133" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".130", <8 x float> %".131", <8 x float> %".132")
  store <8 x float> %".133", <8 x float>* %"sum.3"
  %".135" = load <8 x float>, <8 x float>* %"sum"
  %"tmp0.origin.at.6" = getelementptr i32, ptr %".65", i64 2
  %".137" = load i32, ptr %"tmp0.origin.at.6", align 4
  %".138" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".137", i32 0
  %"tmp0.origin.value.4" = shufflevector <8 x i32> %".138", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.4" = getelementptr i32, ptr %".75", i64 32
  %"in1.value.4" = load <8 x i32>, ptr %"in1.at.4", align 4
  %".142" = bitcast <8 x i32> %"tmp0.origin.value.4" to <8 x float>
  %".143" = bitcast <8 x i32> %"in1.value.4" to <8 x float>
  %".144" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".135", <8 x float> %".142", <8 x float> %".143")
  store <8 x float> %".144", <8 x float>* %"sum"
  %".146" = load <8 x float>, <8 x float>* %"sum.1"
  %"in1.at.5" = getelementptr i32, ptr %".75", i64 40
  %"in1.value.5" = load <8 x i32>, ptr %"in1.at.5", align 4
  %".149" = bitcast <8 x i32> %"tmp0.origin.value.4" to <8 x float>
  %".150" = bitcast <8 x i32> %"in1.value.5" to <8 x float>
  %".151" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".146", <8 x float> %".149", <8 x float> %".150")
  store <8 x float> %".151", <8 x float>* %"sum.1"
  %".153" = load <8 x float>, <8 x float>* %"sum.2"
  %"tmp0.origin.at.7" = getelementptr i32, ptr %".65", i64 6
  %".155" = load i32, ptr %"tmp0.origin.at.7", align 4
  %".156" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".155", i32 0
  %"tmp0.origin.value.5" = shufflevector <8 x i32> %".156", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".158" = bitcast <8 x i32> %"tmp0.origin.value.5" to <8 x float>
  %".159" = bitcast <8 x i32> %"in1.value.4" to <8 x float>
  %".160" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".153", <8 x float> %".158", <8 x float> %".159")
  store <8 x float> %".160", <8 x float>* %"sum.2"
  %".162" = load <8 x float>, <8 x float>* %"sum.3"
  %".163" = bitcast <8 x i32> %"tmp0.origin.value.5" to <8 x float>
  %".164" = bitcast <8 x i32> %"in1.value.5" to <8 x float>
  %".165" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".162", <8 x float> %".163", <8 x float> %".164")
  store <8 x float> %".165", <8 x float>* %"sum.3"
  %".167" = load <8 x float>, <8 x float>* %"sum"
  %"tmp0.origin.at.8" = getelementptr i32, ptr %".65", i64 3
  %".169" = load i32, ptr %"tmp0.origin.at.8", align 4
  %".170" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".169", i32 0
  %"tmp0.origin.value.6" = shufflevector <8 x i32> %".170", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.6" = getelementptr i32, ptr %".75", i64 48
  %"in1.value.6" = load <8 x i32>, ptr %"in1.at.6", align 4
  %".174" = bitcast <8 x i32> %"tmp0.origin.value.6" to <8 x float>
  %".175" = bitcast <8 x i32> %"in1.value.6" to <8 x float>
  %".176" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".167", <8 x float> %".174", <8 x float> %".175")
  store <8 x float> %".176", <8 x float>* %"sum"
  %".178" = load <8 x float>, <8 x float>* %"sum.1"
  %"in1.at.7" = getelementptr i32, ptr %".75", i64 56
  %"in1.value.7" = load <8 x i32>, ptr %"in1.at.7", align 4
  %".181" = bitcast <8 x i32> %"tmp0.origin.value.6" to <8 x float>
  %".182" = bitcast <8 x i32> %"in1.value.7" to <8 x float>
  %".183" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".178", <8 x float> %".181", <8 x float> %".182")
  store <8 x float> %".183", <8 x float>* %"sum.1"
  %".185" = load <8 x float>, <8 x float>* %"sum.2"
  %"tmp0.origin.at.9" = getelementptr i32, ptr %".65", i64 7
  %".187" = load i32, ptr %"tmp0.origin.at.9", align 4
  %".188" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".187", i32 0
  %"tmp0.origin.value.7" = shufflevector <8 x i32> %".188", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".190" = bitcast <8 x i32> %"tmp0.origin.value.7" to <8 x float>
  %".191" = bitcast <8 x i32> %"in1.value.6" to <8 x float>
  %".192" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".185", <8 x float> %".190", <8 x float> %".191")
  store <8 x float> %".192", <8 x float>* %"sum.2"
  %".194" = load <8 x float>, <8 x float>* %"sum.3"
  %".195" = bitcast <8 x i32> %"tmp0.origin.value.7" to <8 x float>
  %".196" = bitcast <8 x i32> %"in1.value.7" to <8 x float>
  %".197" = call <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".194", <8 x float> %".195", <8 x float> %".196")
  store <8 x float> %".197", <8 x float>* %"sum.3"
  %".199" = load <8 x float>, <8 x float>* %"sum"
  %".200" = load <8 x float>, <8 x float>* %"sum.1"
  %".201" = load <8 x float>, <8 x float>* %"sum.2"
  %".202" = load <8 x float>, <8 x float>* %"sum.3"
  %".203" = call <8 x i16> @"burnish.narrow_bf16.f32.8"(<8 x float> %".199")
  %".204" = call <8 x float> @"burnish.widen.bf16.8"(<8 x i16> %".203")
  %".205" = mul nsw i64 %"i0.1", 16
  %".206" = add nsw i64 0, %".205"
  %".207" = mul nsw i64 %"i1", 1
  %".208" = add nsw i64 %".206", %".207"
  %".209" = getelementptr float, ptr %"out0", i64 %".208"
  %"out0.at" = getelementptr float, ptr %".209", i64 0
  store <8 x float> %".204", ptr %"out0.at", align 4
  %".212" = call <8 x i16> @"burnish.narrow_bf16.f32.8"(<8 x float> %".200")
  %".213" = call <8 x float> @"burnish.widen.bf16.8"(<8 x i16> %".212")
  %".214" = mul nsw i64 %"i0.1", 16
  %".215" = add nsw i64 0, %".214"
  %".216" = mul nsw i64 %"i1", 1
  %".217" = add nsw i64 %".215", %".216"
  %".218" = getelementptr float, ptr %"out0", i64 %".217"
  %"out0.at.1" = getelementptr float, ptr %".218", i64 8
  store <8 x float> %".213", ptr %"out0.at.1", align 4
  %".221" = call <8 x i16> @"burnish.narrow_bf16.f32.8"(<8 x float> %".201")
  %".222" = call <8 x float> @"burnish.widen.bf16.8"(<8 x i16> %".221")
  %".223" = mul nsw i64 %"i0.1", 16
  %".224" = add nsw i64 0, %".223"
  %".225" = mul nsw i64 %"i1", 1
  %".226" = add nsw i64 %".224", %".225"
  %".227" = getelementptr float, ptr %"out0", i64 %".226"
  %"out0.at.2" = getelementptr float, ptr %".227", i64 16
  store <8 x float> %".222", ptr %"out0.at.2", align 4
  %".230" = call <8 x i16> @"burnish.narrow_bf16.f32.8"(<8 x float> %".202")
  %".231" = call <8 x float> @"burnish.widen.bf16.8"(<8 x i16> %".230")
  %".232" = mul nsw i64 %"i0.1", 16
  %".233" = add nsw i64 0, %".232"
  %".234" = mul nsw i64 %"i1", 1
  %".235" = add nsw i64 %".233", %".234"
  %".236" = getelementptr float, ptr %"out0", i64 %".235"
  %"out0.at.3" = getelementptr float, ptr %".236", i64 24
  store <8 x float> %".231", ptr %"out0.at.3", align 4
  %"i0.next.1" = add nsw i64 %"i0.1", 2
  br label %"i0.loop.1"
i0.after.1:
  %"i1.next" = add nsw i64 %"i1", 16
  br label %"i1.loop"
}

declare <8 x i16> @"burnish.narrow_bf16.f32.8"(<8 x float> %".1")

declare <8 x float> @"burnish.dot2.f32.8"(<8 x float> %".1", <8 x float> %".2", <8 x float> %".3")

declare <8 x float> @"burnish.widen.bf16.8"(<8 x i16> %".1")
