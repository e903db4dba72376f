; for cpu: avx2: conv_2
;   in0 = x: f32[1, 8, 6, 6]
;   in1 = `$blocks of 2: image`: f32[4, 4]
;   in2 = `taps|y|2|y.products|k:8`: f32[4, 4, 1, 8, 8], packed
;   in3 = `$blocks of 2: result`: f32[2, 4]
;   out0 = y: f32[1, 8, 4, 4]
;   y.columns: f32[i0=1, p=4, d=2, x=6, c=8] = sum(a=4) x[0, c, 2*d + a, x] * `$blocks of 2: image`[p, a]  # conv_2
;   y.places: f32[i0=1, p=4, q=4, t=4, c=8] = sum(a=4) y.columns[0, p, (t) // 2, 2*(t) % 2 + a, c] * `$blocks of 2: image`[q, a]  # conv_2
;   y.products: f32[i0=1, p=4, q=4, t=4, k=8] = sum(c=8) y.places[0, p, q, t, c] * `taps|y|2`[p, q, c, k]  # conv_2
;   y.rows: f32[i0=1, y=2, q=4, t=4, k=8] = sum(p=4) y.products[0, p, q, t, k] * `$blocks of 2: result`[y, p]  # conv_2
;   y: f32[i0=1, i1=8, i2=4, i3=4] = sum(q=4) y.rows[0, (i2) % 2, q, 2*(i2) // 2 + (i3) // 2, i1] * `$blocks of 2: result`[(i3) % 2, q]  # conv_2
; loops      y.columns: i0=4 of p, i1=2 of d, i2=6 of x, i3=8 of c, k0=4 of a, 1 vectors of 8 along i2, 4 of i0 unrolled, k0 unrolled
; loops      y.places: i0=4 of p, i1=4 of q, i2=2 of t, i3=2 of t, i4=8 of c, k0=4 of a, 1 vectors of 8 along i4, 4 of i1 unrolled, k0 unrolled
; loops      y.products: i0=4 of p, i1=4 of q, i2=4 of t, i3=8 of k, k0=8 of c, 1 vectors of 8 along i3, 4 of i2 unrolled, k0 unrolled
; loops      y.rows: i0=2 of y, i1=128 of q·t·k, k0=4 of p, 4 vectors of 8 along i1, 2 of i0 unrolled, k0 unrolled
; loops      y: i0=8 of i1, i1=2 of i2, i2=2 of i2, i3=2 of i3, i4=2 of i3, k0=4 of q, 1 vectors of 8 along i0, 2 of i4 unrolled, k0 unrolled
; schedule   tile 1×8×4×4
; launch     tiles 1, scratch_bytes 4,992
; predicted  2.60 µs, 2.86 KiB from and to memory
; ModuleID = "conv_08cc44131d95"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"conv_08cc44131d95"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
{
entry:
  %".6" = getelementptr ptr, ptr %"arguments", i64 0
  %"in0" = load ptr, ptr %".6"
  %".7" = getelementptr ptr, ptr %"arguments", i64 1
  %"in1" = load ptr, ptr %".7"
  %".8" = getelementptr ptr, ptr %"arguments", i64 2
  %"in2" = load ptr, ptr %".8"
  %".9" = getelementptr ptr, ptr %"arguments", i64 3
  %"in3" = load ptr, ptr %".9"
  %".10" = getelementptr ptr, ptr %"arguments", i64 4
  %"out0" = load ptr, ptr %".10"
  %"tmp0" = getelementptr i8, ptr %"scratch", i64 0
  %"tmp1" = getelementptr i8, ptr %"scratch", i64 2496
  %"tmp2" = getelementptr i8, ptr %"scratch", i64 2496
  %"tmp3" = getelementptr i8, ptr %"scratch", i64 0
  %"sum" = alloca <8 x float>
  %"sum.1" = alloca <8 x float>
  %"sum.2" = alloca <8 x float>
  %"sum.3" = alloca <8 x float>
  %"sum.4" = alloca <8 x float>
  %"sum.5" = alloca <8 x float>
  %"sum.6" = alloca <8 x float>
  %"sum.7" = alloca <8 x float>
  %"sum.8" = alloca <8 x float>
  %"sum.9" = alloca <8 x float>
  %"sum.10" = alloca <8 x float>
  %"sum.11" = alloca <8 x float>
  %"sum.12" = alloca <8 x float>
  %"sum.13" = alloca <8 x float>
  %"sum.14" = alloca <8 x float>
  %"sum.15" = alloca <8 x float>
  %"sum.16" = alloca <8 x float>
  %"sum.17" = alloca <8 x float>
  %"sum.18" = alloca <8 x float>
  %"sum.19" = alloca <8 x float>
  %"sum.20" = alloca <8 x float>
  %"sum.21" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i1.after.4"]
  %".17" = icmp slt i64 %"tile", %"end"
  br i1 %".17", label %"tile.body", label %"tile.after"
tile.body:
  %".19" = mul i64 0, -448
  %".20" = add i64 0, %".19"
  %".21" = mul i64 0, -112
  %".22" = add i64 %".20", %".21"
  %".23" = mul i64 0, -48
  %".24" = add i64 %".22", %".23"
  %".25" = mul i64 0, -8
  %".26" = add i64 %".24", %".25"
  %".27" = mul i64 0, -1
  %".28" = add i64 %".26", %".27"
  %".29" = mul i64 %".28", 4
  %"tmp2.origin" = getelementptr i8, ptr %"tmp2", i64 %".29"
  %".31" = mul i64 0, -576
  %".32" = add i64 0, %".31"
  %".33" = mul i64 0, -144
  %".34" = add i64 %".32", %".33"
  %".35" = mul i64 0, -32
  %".36" = add i64 %".34", %".35"
  %".37" = mul i64 0, -8
  %".38" = add i64 %".36", %".37"
  %".39" = mul i64 0, -1
  %".40" = add i64 %".38", %".39"
  %".41" = mul i64 %".40", 4
  %"tmp0.origin" = getelementptr i8, ptr %"tmp0", i64 %".41"
  %".43" = mul i64 0, -576
  %".44" = add i64 0, %".43"
  %".45" = mul i64 0, -144
  %".46" = add i64 %".44", %".45"
  %".47" = mul i64 0, -32
  %".48" = add i64 %".46", %".47"
  %".49" = mul i64 0, -8
  %".50" = add i64 %".48", %".49"
  %".51" = mul i64 0, -1
  %".52" = add i64 %".50", %".51"
  %".53" = mul i64 %".52", 4
  %"tmp1.origin" = getelementptr i8, ptr %"tmp1", i64 %".53"
  %".55" = mul i64 0, -288
  %".56" = add i64 0, %".55"
  %".57" = mul i64 0, -144
  %".58" = add i64 %".56", %".57"
  %".59" = mul i64 0, -32
  %".60" = add i64 %".58", %".59"
  %".61" = mul i64 0, -8
  %".62" = add i64 %".60", %".61"
  %".63" = mul i64 0, -1
  %".64" = add i64 %".62", %".63"
  %".65" = mul i64 %".64", 4
  %"tmp3.origin" = getelementptr i8, ptr %"tmp3", i64 %".65"
  %".67" = add i64 0, 1
  %".68" = add i64 0, 4
  %".69" = add i64 0, 2
  %".70" = add i64 0, 6
  %".71" = add i64 0, 8
  br label %"i1.loop"
tile.after:
  ret void
i1.loop:
  %"i1" = phi  i64 [0, %"tile.body"], [%"i1.next", %"i3.after"]
  %".73" = icmp slt i64 %"i1", %".69"
  br i1 %".73", label %"i1.body", label %"i1.after"
i1.body:
  br label %"i3.loop"
i1.after:
  %".293" = add i64 0, 1
  %".294" = add i64 0, 4
  %".295" = add i64 0, 4
  %".296" = add i64 0, 4
  %".297" = add i64 0, 8
  br label %"i0.loop.1"
i3.loop:
  %"i3" = phi  i64 [0, %"i1.body"], [%"i3.next", %"i0.after"]
  %".76" = icmp slt i64 %"i3", %".71"
  br i1 %".76", label %"i3.body", label %"i3.after"
i3.body:
  %".78" = add i64 0, 0
  %".79" = sub i64 %".70", %".78"
  %".80" = trunc i64 %".79" to i32
  %".81" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".80", i32 0
  %".82" = shufflevector <8 x i32> %".81", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".83" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".82"
  %".84" = add i64 0, 4
  br label %"i0.loop"
i3.after:
  %"i1.next" = add nsw i64 %"i1", 1
  br label %"i1.loop"
i0.loop:
  %"i0" = phi  i64 [0, %"i3.body"], [%"i0.next", %"i0.body"]
  %".86" = icmp slt i64 %"i0", %".84"
  br i1 %".86", label %"i0.body", label %"i0.after"
i0.body:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.1"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.2"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.3"
  %".92" = mul nsw i64 %"i3", 36
  %".93" = add nsw i64 0, %".92"
  %".94" = mul nsw i64 %"i1", 12
  %".95" = add nsw i64 %".93", %".94"
  %".96" = mul nsw i64 %".78", 1
  %".97" = add nsw i64 %".95", %".96"
  %".98" = getelementptr float, ptr %"in0", i64 %".97"
  %"in0.at" = getelementptr float, ptr %".98", i64 0
  %"in0.value" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"in0.at", i32 4, <8 x i1> %".83", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".101" = mul nsw i64 %"i0", 4
  %".102" = add nsw i64 0, %".101"
  %".103" = getelementptr float, ptr %"in1", i64 %".102"
  %"in1.at" = getelementptr float, ptr %".103", i64 0
  %".105" = load float, ptr %"in1.at", align 4
  %".106" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".105", i32 0
  %"in1.value" = shufflevector <8 x float> %".106", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply" = fmul contract <8 x float> %"in0.value", %"in1.value"
  %".109" = load <8 x float>, <8 x float>* %"sum"
  %"add" = fadd contract <8 x float> %".109", %"multiply"
  store <8 x float> %"add", <8 x float>* %"sum"
  %"in1.at.1" = getelementptr float, ptr %".103", i64 4
  %".113" = load float, ptr %"in1.at.1", align 4
  %".114" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".113", i32 0
  %"in1.value.1" = shufflevector <8 x float> %".114", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.1" = fmul contract <8 x float> %"in0.value", %"in1.value.1"
  %".117" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.1" = fadd contract <8 x float> %".117", %"multiply.1"
  store <8 x float> %"add.1", <8 x float>* %"sum.1"
  %"in1.at.2" = getelementptr float, ptr %".103", i64 8
  %".121" = load float, ptr %"in1.at.2", align 4
  %".122" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".121", i32 0
  %"in1.value.2" = shufflevector <8 x float> %".122", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.2" = fmul contract <8 x float> %"in0.value", %"in1.value.2"
  %".125" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.2" = fadd contract <8 x float> %".125", %"multiply.2"
  store <8 x float> %"add.2", <8 x float>* %"sum.2"
  %"in1.at.3" = getelementptr float, ptr %".103", i64 12
  %".129" = load float, ptr %"in1.at.3", align 4
  %".130" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".129", i32 0
  %"in1.value.3" = shufflevector <8 x float> %".130", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.3" = fmul contract <8 x float> %"in0.value", %"in1.value.3"
  %".133" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.3" = fadd contract <8 x float> %".133", %"multiply.3"
  store <8 x float> %"add.3", <8 x float>* %"sum.3"
  %"in0.at.1" = getelementptr float, ptr %".98", i64 6
  %"in0.value.1" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"in0.at.1", i32 4, <8 x i1> %".83", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %"in1.at.4" = getelementptr float, ptr %".103", i64 1
  %".139" = load float, ptr %"in1.at.4", align 4
  %".140" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".139", i32 0
  %"in1.value.4" = shufflevector <8 x float> %".140", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.4" = fmul contract <8 x float> %"in0.value.1", %"in1.value.4"
  %".143" = load <8 x float>, <8 x float>* %"sum"
  %"add.4" = fadd contract <8 x float> %".143", %"multiply.4"
  store <8 x float> %"add.4", <8 x float>* %"sum"
  %"in1.at.5" = getelementptr float, ptr %".103", i64 5
  %".147" = load float, ptr %"in1.at.5", align 4
  %".148" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".147", i32 0
  %"in1.value.5" = shufflevector <8 x float> %".148", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.5" = fmul contract <8 x float> %"in0.value.1", %"in1.value.5"
  %".151" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.5" = fadd contract <8 x float> %".151", %"multiply.5"
  store <8 x float> %"add.5", <8 x float>* %"sum.1"
  %"in1.at.6" = getelementptr float, ptr %".103", i64 9
  %".155" = load float, ptr %"in1.at.6", align 4
  %".156" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".155", i32 0
  %"in1.value.6" = shufflevector <8 x float> %".156", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.6" = fmul contract <8 x float> %"in0.value.1", %"in1.value.6"
  %".159" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.6" = fadd contract <8 x float> %".159", %"multiply.6"
  store <8 x float> %"add.6", <8 x float>* %"sum.2"
  %"in1.at.7" = getelementptr float, ptr %".103", i64 13
  %".163" = load float, ptr %"in1.at.7", align 4
  %".164" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".163", i32 0
  %"in1.value.7" = shufflevector <8 x float> %".164", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.7" = fmul contract <8 x float> %"in0.value.1", %"in1.value.7"
  %".167" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.7" = fadd contract <8 x float> %".167", %"multiply.7"
  store <8 x float> %"add.7", <8 x float>* %"sum.3"
  %"in0.at.2" = getelementptr float, ptr %".98", i64 12
  %"in0.value.2" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"in0.at.2", i32 4, <8 x i1> %".83", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %"in1.at.8" = getelementptr float, ptr %".103", i64 2
  %".173" = load float, ptr %"in1.at.8", align 4
  %".174" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".173", i32 0
  %"in1.value.8" = shufflevector <8 x float> %".174", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.8" = fmul contract <8 x float> %"in0.value.2", %"in1.value.8"
  %".177" = load <8 x float>, <8 x float>* %"sum"
  %"add.8" = fadd contract <8 x float> %".177", %"multiply.8"
  store <8 x float> %"add.8", <8 x float>* %"sum"
  %"in1.at.9" = getelementptr float, ptr %".103", i64 6
  %".181" = load float, ptr %"in1.at.9", align 4
  %".182" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".181", i32 0
  %"in1.value.9" = shufflevector <8 x float> %".182", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.9" = fmul contract <8 x float> %"in0.value.2", %"in1.value.9"
  %".185" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.9" = fadd contract <8 x float> %".185", %"multiply.9"
  store <8 x float> %"add.9", <8 x float>* %"sum.1"
  %"in1.at.10" = getelementptr float, ptr %".103", i64 10
  %".189" = load float, ptr %"in1.at.10", align 4
  %".190" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".189", i32 0
  %"in1.value.10" = shufflevector <8 x float> %".190", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.10" = fmul contract <8 x float> %"in0.value.2", %"in1.value.10"
  %".193" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.10" = fadd contract <8 x float> %".193", %"multiply.10"
  store <8 x float> %"add.10", <8 x float>* %"sum.2"
  %"in1.at.11" = getelementptr float, ptr %".103", i64 14
  %".197" = load float, ptr %"in1.at.11", align 4
  %".198" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".197", i32 0
  %"in1.value.11" = shufflevector <8 x float> %".198", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.11" = fmul contract <8 x float> %"in0.value.2", %"in1.value.11"
  %".201" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.11" = fadd contract <8 x float> %".201", %"multiply.11"
  store <8 x float> %"add.11", <8 x float>* %"sum.3"
  %"in0.at.3" = getelementptr float, ptr %".98", i64 18
  %"in0.value.3" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"in0.at.3", i32 4, <8 x i1> %".83", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %"in1.at.12" = getelementptr float, ptr %".103", i64 3
  %".207" = load float, ptr %"in1.at.12", align 4
  %".208" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".207", i32 0
  %"in1.value.12" = shufflevector <8 x float> %".208", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.12" = fmul contract <8 x float> %"in0.value.3", %"in1.value.12"
  %".211" = load <8 x float>, <8 x float>* %"sum"
  %"add.12" = fadd contract <8 x float> %".211", %"multiply.12"
  store <8 x float> %"add.12", <8 x float>* %"sum"
  %"in1.at.13" = getelementptr float, ptr %".103", i64 7
  %".215" = load float, ptr %"in1.at.13", align 4
  %".216" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".215", i32 0
  %"in1.value.13" = shufflevector <8 x float> %".216", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.13" = fmul contract <8 x float> %"in0.value.3", %"in1.value.13"
  %".219" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.13" = fadd contract <8 x float> %".219", %"multiply.13"
  store <8 x float> %"add.13", <8 x float>* %"sum.1"
  %"in1.at.14" = getelementptr float, ptr %".103", i64 11
  %".223" = load float, ptr %"in1.at.14", align 4
  %".224" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".223", i32 0
  %"in1.value.14" = shufflevector <8 x float> %".224", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.14" = fmul contract <8 x float> %"in0.value.3", %"in1.value.14"
  %".227" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.14" = fadd contract <8 x float> %".227", %"multiply.14"
  store <8 x float> %"add.14", <8 x float>* %"sum.2"
  %"in1.at.15" = getelementptr float, ptr %".103", i64 15
  %".231" = load float, ptr %"in1.at.15", align 4
  %".232" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".231", i32 0
  %"in1.value.15" = shufflevector <8 x float> %".232", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.15" = fmul contract <8 x float> %"in0.value.3", %"in1.value.15"
  %".235" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.15" = fadd contract <8 x float> %".235", %"multiply.15"
  store <8 x float> %"add.15", <8 x float>* %"sum.3"
  %".238" = load <8 x float>, <8 x float>* %"sum"
  %".239" = load <8 x float>, <8 x float>* %"sum.1"
  %".240" = load <8 x float>, <8 x float>* %"sum.2"
  %".241" = load <8 x float>, <8 x float>* %"sum.3"
  %".242" = mul nsw i64 %"i0", 112
  %".243" = add nsw i64 0, %".242"
  %".244" = mul nsw i64 %"i1", 48
  %".245" = add nsw i64 %".243", %".244"
  %".246" = mul nsw i64 %".78", 8
  %".247" = add nsw i64 %".245", %".246"
  %".248" = mul nsw i64 %"i3", 1
  %".249" = add nsw i64 %".247", %".248"
  %".250" = getelementptr float, ptr %"tmp2.origin", i64 %".249"
  %"tmp2.origin.at" = getelementptr float, ptr %".250", i64 0
  %".252" = getelementptr float, ptr %"tmp2.origin.at", <8 x i32> <i32 0, i32 8, i32 16, i32 24, i32 32, i32 40, i32 48, i32 56>
  call void @"llvm.masked.scatter.v8f32.v8p0"(<8 x float> %".238", <8 x ptr> %".252", i32 4, <8 x i1> %".83")
  %".254" = mul nsw i64 %"i0", 112
  %".255" = add nsw i64 0, %".254"
  %".256" = mul nsw i64 %"i1", 48
  %".257" = add nsw i64 %".255", %".256"
  %".258" = mul nsw i64 %".78", 8
  %".259" = add nsw i64 %".257", %".258"
  %".260" = mul nsw i64 %"i3", 1
  %".261" = add nsw i64 %".259", %".260"
  %".262" = getelementptr float, ptr %"tmp2.origin", i64 %".261"
  %"tmp2.origin.at.1" = getelementptr float, ptr %".262", i64 112
  %".264" = getelementptr float, ptr %"tmp2.origin.at.1", <8 x i32> <i32 0, i32 8, i32 16, i32 24, i32 32, i32 40, i32 48, i32 56>
  call void @"llvm.masked.scatter.v8f32.v8p0"(<8 x float> %".239", <8 x ptr> %".264", i32 4, <8 x i1> %".83")
  %".266" = mul nsw i64 %"i0", 112
  %".267" = add nsw i64 0, %".266"
  %".268" = mul nsw i64 %"i1", 48
  %".269" = add nsw i64 %".267", %".268"
  %".270" = mul nsw i64 %".78", 8
  %".271" = add nsw i64 %".269", %".270"
  %".272" = mul nsw i64 %"i3", 1
  %".273" = add nsw i64 %".271", %".272"
  %".274" = getelementptr float, ptr %"tmp2.origin", i64 %".273"
  %"tmp2.origin.at.2" = getelementptr float, ptr %".274", i64 224
  %".276" = getelementptr float, ptr %"tmp2.origin.at.2", <8 x i32> <i32 0, i32 8, i32 16, i32 24, i32 32, i32 40, i32 48, i32 56>
  call void @"llvm.masked.scatter.v8f32.v8p0"(<8 x float> %".240", <8 x ptr> %".276", i32 4, <8 x i1> %".83")
  %".278" = mul nsw i64 %"i0", 112
  %".279" = add nsw i64 0, %".278"
  %".280" = mul nsw i64 %"i1", 48
  %".281" = add nsw i64 %".279", %".280"
  %".282" = mul nsw i64 %".78", 8
  %".283" = add nsw i64 %".281", %".282"
  %".284" = mul nsw i64 %"i3", 1
  %".285" = add nsw i64 %".283", %".284"
  %".286" = getelementptr float, ptr %"tmp2.origin", i64 %".285"
  %"tmp2.origin.at.3" = getelementptr float, ptr %".286", i64 336
  %".288" = getelementptr float, ptr %"tmp2.origin.at.3", <8 x i32> <i32 0, i32 8, i32 16, i32 24, i32 32, i32 40, i32 48, i32 56>
  call void @"llvm.masked.scatter.v8f32.v8p0"(<8 x float> %".241", <8 x ptr> %".288", i32 4, <8 x i1> %".83")
  %"i0.next" = add nsw i64 %"i0", 4
  br label %"i0.loop"
i0.after:
  %"i3.next" = add nsw i64 %"i3", 1
  br label %"i3.loop"
i0.loop.1:
  %"i0.1" = phi  i64 [0, %"i1.after"], [%"i0.next.1", %"i2.after"]
  %".299" = icmp slt i64 %"i0.1", %".294"
  br i1 %".299", label %"i0.body.1", label %"i0.after.1"
i0.body.1:
  %".301" = udiv i64 0, 2
  %".302" = udiv i64 %".296", 2
  br label %"i2.loop"
i0.after.1:
  %".530" = add i64 0, 1
  %".531" = add i64 0, 4
  %".532" = add i64 0, 4
  %".533" = add i64 0, 4
  %".534" = add i64 0, 8
  br label %"i0.loop.2"
i2.loop:
  %"i2" = phi  i64 [%".301", %"i0.body.1"], [%"i2.next", %"i3.after.1"]
  %".304" = icmp slt i64 %"i2", %".302"
  br i1 %".304", label %"i2.body", label %"i2.after"
i2.body:
  br label %"i3.loop.1"
i2.after:
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  br label %"i0.loop.1"
i3.loop.1:
  %"i3.1" = phi  i64 [0, %"i2.body"], [%"i3.next.1", %"i4.after"]
  %".307" = icmp slt i64 %"i3.1", 2
  br i1 %".307", label %"i3.body.1", label %"i3.after.1"
i3.body.1:
  %".309" = add i64 0, 8
  br label %"i4.loop"
i3.after.1:
  %"i2.next" = add nsw i64 %"i2", 1
  br label %"i2.loop"
i4.loop:
  %"i4" = phi  i64 [0, %"i3.body.1"], [%"i4.next", %"i1.after.1"]
  %".311" = icmp slt i64 %"i4", %".309"
  br i1 %".311", label %"i4.body", label %"i4.after"
i4.body:
  %".313" = add i64 0, 4
  br label %"i1.loop.1"
i4.after:
  %"i3.next.1" = add nsw i64 %"i3.1", 1
  br label %"i3.loop.1"
i1.loop.1:
  %"i1.1" = phi  i64 [0, %"i4.body"], [%"i1.next.1", %"i1.body.1"]
  %".315" = icmp slt i64 %"i1.1", %".313"
  br i1 %".315", label %"i1.body.1", label %"i1.after.1"
i1.body.1:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.4"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.5"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.6"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.7"
  %".321" = mul nsw i64 %"i0.1", 112
  %".322" = add nsw i64 0, %".321"
  %".323" = mul nsw i64 %"i2", 48
  %".324" = add nsw i64 %".322", %".323"
  %".325" = mul nsw i64 %"i3.1", 16
  %".326" = add nsw i64 %".324", %".325"
  %".327" = mul nsw i64 %"i4", 1
  %".328" = add nsw i64 %".326", %".327"
  %".329" = getelementptr float, ptr %"tmp2.origin", i64 %".328"
  %"tmp2.origin.at.4" = getelementptr float, ptr %".329", i64 0
  %"tmp2.origin.value" = load <8 x float>, ptr %"tmp2.origin.at.4", align 4
  %".332" = mul nsw i64 %"i1.1", 4
  %".333" = add nsw i64 0, %".332"
  %".334" = getelementptr float, ptr %"in1", i64 %".333"
  %"in1.at.16" = getelementptr float, ptr %".334", i64 0
  %".336" = load float, ptr %"in1.at.16", align 4
  %".337" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".336", i32 0
  %"in1.value.16" = shufflevector <8 x float> %".337", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.16" = fmul contract <8 x float> %"tmp2.origin.value", %"in1.value.16"
  %".340" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.16" = fadd contract <8 x float> %".340", %"multiply.16"
  store <8 x float> %"add.16", <8 x float>* %"sum.4"
  %"in1.at.17" = getelementptr float, ptr %".334", i64 4
  %".344" = load float, ptr %"in1.at.17", align 4
  %".345" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".344", i32 0
  %"in1.value.17" = shufflevector <8 x float> %".345", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.17" = fmul contract <8 x float> %"tmp2.origin.value", %"in1.value.17"
  %".348" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.17" = fadd contract <8 x float> %".348", %"multiply.17"
  store <8 x float> %"add.17", <8 x float>* %"sum.5"
  %"in1.at.18" = getelementptr float, ptr %".334", i64 8
  %".352" = load float, ptr %"in1.at.18", align 4
  %".353" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".352", i32 0
  %"in1.value.18" = shufflevector <8 x float> %".353", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.18" = fmul contract <8 x float> %"tmp2.origin.value", %"in1.value.18"
  %".356" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.18" = fadd contract <8 x float> %".356", %"multiply.18"
  store <8 x float> %"add.18", <8 x float>* %"sum.6"
  %"in1.at.19" = getelementptr float, ptr %".334", i64 12
  %".360" = load float, ptr %"in1.at.19", align 4
  %".361" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".360", i32 0
  %"in1.value.19" = shufflevector <8 x float> %".361", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.19" = fmul contract <8 x float> %"tmp2.origin.value", %"in1.value.19"
  %".364" = load <8 x float>, <8 x float>* %"sum.7"
  %"add.19" = fadd contract <8 x float> %".364", %"multiply.19"
  store <8 x float> %"add.19", <8 x float>* %"sum.7"
  %"tmp2.origin.at.5" = getelementptr float, ptr %".329", i64 8
  %"tmp2.origin.value.1" = load <8 x float>, ptr %"tmp2.origin.at.5", align 4
  %"in1.at.20" = getelementptr float, ptr %".334", i64 1
  %".370" = load float, ptr %"in1.at.20", align 4
  %".371" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".370", i32 0
  %"in1.value.20" = shufflevector <8 x float> %".371", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.20" = fmul contract <8 x float> %"tmp2.origin.value.1", %"in1.value.20"
  %".374" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.20" = fadd contract <8 x float> %".374", %"multiply.20"
  store <8 x float> %"add.20", <8 x float>* %"sum.4"
  %"in1.at.21" = getelementptr float, ptr %".334", i64 5
  %".378" = load float, ptr %"in1.at.21", align 4
  %".379" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".378", i32 0
  %"in1.value.21" = shufflevector <8 x float> %".379", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.21" = fmul contract <8 x float> %"tmp2.origin.value.1", %"in1.value.21"
  %".382" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.21" = fadd contract <8 x float> %".382", %"multiply.21"
  store <8 x float> %"add.21", <8 x float>* %"sum.5"
  %"in1.at.22" = getelementptr float, ptr %".334", i64 9
  %".386" = load float, ptr %"in1.at.22", align 4
  %".387" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".386", i32 0
  %"in1.value.22" = shufflevector <8 x float> %".387", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.22" = fmul contract <8 x float> %"tmp2.origin.value.1", %"in1.value.22"
  %".390" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.22" = fadd contract <8 x float> %".390", %"multiply.22"
  store <8 x float> %"add.22", <8 x float>* %"sum.6"
  %"in1.at.23" = getelementptr float, ptr %".334", i64 13
  %".394" = load float, ptr %"in1.at.23", align 4
  %".395" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".394", i32 0
  %"in1.value.23" = shufflevector <8 x float> %".395", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.23" = fmul contract <8 x float> %"tmp2.origin.value.1", %"in1.value.23"
  %".398" = load <8 x float>, <8 x float>* %"sum.7"
  %"add.23" = fadd contract <8 x float> %".398", %"multiply.23"
  store <8 x float> %"add.23", <8 x float>* %"sum.7"
  %"tmp2.origin.at.6" = getelementptr float, ptr %".329", i64 16
  %"tmp2.origin.value.2" = load <8 x float>, ptr %"tmp2.origin.at.6", align 4
  %"in1.at.24" = getelementptr float, ptr %".334", i64 2
  %".404" = load float, ptr %"in1.at.24", align 4
  %".405" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".404", i32 0
  %"in1.value.24" = shufflevector <8 x float> %".405", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.24" = fmul contract <8 x float> %"tmp2.origin.value.2", %"in1.value.24"
  %".408" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.24" = fadd contract <8 x float> %".408", %"multiply.24"
  store <8 x float> %"add.24", <8 x float>* %"sum.4"
  %"in1.at.25" = getelementptr float, ptr %".334", i64 6
  %".412" = load float, ptr %"in1.at.25", align 4
  %".413" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".412", i32 0
  %"in1.value.25" = shufflevector <8 x float> %".413", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.25" = fmul contract <8 x float> %"tmp2.origin.value.2", %"in1.value.25"
  %".416" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.25" = fadd contract <8 x float> %".416", %"multiply.25"
  store <8 x float> %"add.25", <8 x float>* %"sum.5"
  %"in1.at.26" = getelementptr float, ptr %".334", i64 10
  %".420" = load float, ptr %"in1.at.26", align 4
  %".421" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".420", i32 0
  %"in1.value.26" = shufflevector <8 x float> %".421", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.26" = fmul contract <8 x float> %"tmp2.origin.value.2", %"in1.value.26"
  %".424" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.26" = fadd contract <8 x float> %".424", %"multiply.26"
  store <8 x float> %"add.26", <8 x float>* %"sum.6"
  %"in1.at.27" = getelementptr float, ptr %".334", i64 14
  %".428" = load float, ptr %"in1.at.27", align 4
  %".429" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".428", i32 0
  %"in1.value.27" = shufflevector <8 x float> %".429", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.27" = fmul contract <8 x float> %"tmp2.origin.value.2", %"in1.value.27"
  %".432" = load <8 x float>, <8 x float>* %"sum.7"
  %"add.27" = fadd contract <8 x float> %".432", %"multiply.27"
  store <8 x float> %"add.27", <8 x float>* %"sum.7"
  %"tmp2.origin.at.7" = getelementptr float, ptr %".329", i64 24
  %"tmp2.origin.value.3" = load <8 x float>, ptr %"tmp2.origin.at.7", align 4
  %"in1.at.28" = getelementptr float, ptr %".334", i64 3
  %".438" = load float, ptr %"in1.at.28", align 4
  %".439" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".438", i32 0
  %"in1.value.28" = shufflevector <8 x float> %".439", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.28" = fmul contract <8 x float> %"tmp2.origin.value.3", %"in1.value.28"
  %".442" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.28" = fadd contract <8 x float> %".442", %"multiply.28"
  store <8 x float> %"add.28", <8 x float>* %"sum.4"
  %"in1.at.29" = getelementptr float, ptr %".334", i64 7
  %".446" = load float, ptr %"in1.at.29", align 4
  %".447" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".446", i32 0
  %"in1.value.29" = shufflevector <8 x float> %".447", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.29" = fmul contract <8 x float> %"tmp2.origin.value.3", %"in1.value.29"
  %".450" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.29" = fadd contract <8 x float> %".450", %"multiply.29"
  store <8 x float> %"add.29", <8 x float>* %"sum.5"
  %"in1.at.30" = getelementptr float, ptr %".334", i64 11
  %".454" = load float, ptr %"in1.at.30", align 4
  %".455" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".454", i32 0
  %"in1.value.30" = shufflevector <8 x float> %".455", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.30" = fmul contract <8 x float> %"tmp2.origin.value.3", %"in1.value.30"
  %".458" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.30" = fadd contract <8 x float> %".458", %"multiply.30"
  store <8 x float> %"add.30", <8 x float>* %"sum.6"
  %"in1.at.31" = getelementptr float, ptr %".334", i64 15
  %".462" = load float, ptr %"in1.at.31", align 4
  %".463" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".462", i32 0
  %"in1.value.31" = shufflevector <8 x float> %".463", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.31" = fmul contract <8 x float> %"tmp2.origin.value.3", %"in1.value.31"
  %".466" = load <8 x float>, <8 x float>* %"sum.7"
  %"add.31" = fadd contract <8 x float> %".466", %"multiply.31"
  store <8 x float> %"add.31", <8 x float>* %"sum.7"
  %".469" = load <8 x float>, <8 x float>* %"sum.4"
  %".470" = load <8 x float>, <8 x float>* %"sum.5"
  %".471" = load <8 x float>, <8 x float>* %"sum.6"
  %".472" = load <8 x float>, <8 x float>* %"sum.7"
  %".473" = mul nsw i64 %"i0.1", 144
  %".474" = add nsw i64 0, %".473"
  %".475" = mul nsw i64 %"i1.1", 32
  %".476" = add nsw i64 %".474", %".475"
  %".477" = mul nsw i64 %"i2", 16
  %".478" = add nsw i64 %".476", %".477"
  %".479" = mul nsw i64 %"i3.1", 8
  %".480" = add nsw i64 %".478", %".479"
  %".481" = mul nsw i64 %"i4", 1
  %".482" = add nsw i64 %".480", %".481"
  %".483" = getelementptr float, ptr %"tmp0.origin", i64 %".482"
  %"tmp0.origin.at" = getelementptr float, ptr %".483", i64 0
  store <8 x float> %".469", ptr %"tmp0.origin.at", align 4
  %".486" = mul nsw i64 %"i0.1", 144
  %".487" = add nsw i64 0, %".486"
  %".488" = mul nsw i64 %"i1.1", 32
  %".489" = add nsw i64 %".487", %".488"
  %".490" = mul nsw i64 %"i2", 16
  %".491" = add nsw i64 %".489", %".490"
  %".492" = mul nsw i64 %"i3.1", 8
  %".493" = add nsw i64 %".491", %".492"
  %".494" = mul nsw i64 %"i4", 1
  %".495" = add nsw i64 %".493", %".494"
  %".496" = getelementptr float, ptr %"tmp0.origin", i64 %".495"
  %"tmp0.origin.at.1" = getelementptr float, ptr %".496", i64 32
  store <8 x float> %".470", ptr %"tmp0.origin.at.1", align 4
  %".499" = mul nsw i64 %"i0.1", 144
  %".500" = add nsw i64 0, %".499"
  %".501" = mul nsw i64 %"i1.1", 32
  %".502" = add nsw i64 %".500", %".501"
  %".503" = mul nsw i64 %"i2", 16
  %".504" = add nsw i64 %".502", %".503"
  %".505" = mul nsw i64 %"i3.1", 8
  %".506" = add nsw i64 %".504", %".505"
  %".507" = mul nsw i64 %"i4", 1
  %".508" = add nsw i64 %".506", %".507"
  %".509" = getelementptr float, ptr %"tmp0.origin", i64 %".508"
  %"tmp0.origin.at.2" = getelementptr float, ptr %".509", i64 64
  store <8 x float> %".471", ptr %"tmp0.origin.at.2", align 4
  %".512" = mul nsw i64 %"i0.1", 144
  %".513" = add nsw i64 0, %".512"
  %".514" = mul nsw i64 %"i1.1", 32
  %".515" = add nsw i64 %".513", %".514"
  %".516" = mul nsw i64 %"i2", 16
  %".517" = add nsw i64 %".515", %".516"
  %".518" = mul nsw i64 %"i3.1", 8
  %".519" = add nsw i64 %".517", %".518"
  %".520" = mul nsw i64 %"i4", 1
  %".521" = add nsw i64 %".519", %".520"
  %".522" = getelementptr float, ptr %"tmp0.origin", i64 %".521"
  %"tmp0.origin.at.3" = getelementptr float, ptr %".522", i64 96
  store <8 x float> %".472", ptr %"tmp0.origin.at.3", align 4
  %"i1.next.1" = add nsw i64 %"i1.1", 4
  br label %"i1.loop.1"
i1.after.1:
  %"i4.next" = add nsw i64 %"i4", 8
  br label %"i4.loop"
i0.loop.2:
  %"i0.2" = phi  i64 [0, %"i0.after.1"], [%"i0.next.2", %"i1.after.2"]
  %".536" = icmp slt i64 %"i0.2", %".531"
  br i1 %".536", label %"i0.body.2", label %"i0.after.2"
i0.body.2:
  br label %"i1.loop.2"
i0.after.2:
  %".894" = add i64 0, 1
  %".895" = add i64 0, 2
  %".896" = add i64 0, 4
  %".897" = add i64 0, 4
  %".898" = add i64 0, 8
  %".899" = mul i64 0, 4
  %".900" = mul i64 %".896", 4
  %".901" = mul i64 %".899", 8
  %".902" = mul i64 %".900", 8
  %".903" = add i64 %".901", 128
  br label %"i1.loop.3"
i1.loop.2:
  %"i1.2" = phi  i64 [0, %"i0.body.2"], [%"i1.next.2", %"i3.after.2"]
  %".539" = icmp slt i64 %"i1.2", %".532"
  br i1 %".539", label %"i1.body.2", label %"i1.after.2"
i1.body.2:
  %".541" = add i64 0, 8
  br label %"i3.loop.2"
i1.after.2:
  %"i0.next.2" = add nsw i64 %"i0.2", 1
  br label %"i0.loop.2"
i3.loop.2:
  %"i3.2" = phi  i64 [0, %"i1.body.2"], [%"i3.next.2", %"i2.after.1"]
  %".543" = icmp slt i64 %"i3.2", %".541"
  br i1 %".543", label %"i3.body.2", label %"i3.after.2"
i3.body.2:
  %".545" = add i64 0, 4
  br label %"i2.loop.1"
i3.after.2:
  %"i1.next.2" = add nsw i64 %"i1.2", 1
  br label %"i1.loop.2"
i2.loop.1:
  %"i2.1" = phi  i64 [0, %"i3.body.2"], [%"i2.next.1", %"i2.body.1"]
  %".547" = icmp slt i64 %"i2.1", %".545"
  br i1 %".547", label %"i2.body.1", label %"i2.after.1"
i2.body.1:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.8"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.9"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.10"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.11"
  %".553" = mul nsw i64 %"i0.2", 144
  %".554" = add nsw i64 0, %".553"
  %".555" = mul nsw i64 %"i1.2", 32
  %".556" = add nsw i64 %".554", %".555"
  %".557" = mul nsw i64 %"i2.1", 8
  %".558" = add nsw i64 %".556", %".557"
  %".559" = getelementptr float, ptr %"tmp0.origin", i64 %".558"
  %"tmp0.origin.at.4" = getelementptr float, ptr %".559", i64 0
  %".561" = load float, ptr %"tmp0.origin.at.4", align 4
  %".562" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".561", i32 0
  %"tmp0.origin.value" = shufflevector <8 x float> %".562", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".564" = mul nsw i64 %"i0.2", 256
  %".565" = add nsw i64 0, %".564"
  %".566" = mul nsw i64 %"i1.2", 64
  %".567" = add nsw i64 %".565", %".566"
  %".568" = udiv i64 %"i3.2", 8
  %".569" = urem i64 %"i3.2", 8
  %".570" = mul i64 %".568", 64
  %".571" = add i64 %".567", %".570"
  %".572" = add i64 %".571", %".569"
  %".573" = getelementptr float, ptr %"in2", i64 %".572"
  %"in2.at" = getelementptr float, ptr %".573", i64 0
  %"in2.value" = load <8 x float>, ptr %"in2.at", align 4
  %"multiply.32" = fmul contract <8 x float> %"tmp0.origin.value", %"in2.value"
  %".577" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.32" = fadd contract <8 x float> %".577", %"multiply.32"
  store <8 x float> %"add.32", <8 x float>* %"sum.8"
  %"tmp0.origin.at.5" = getelementptr float, ptr %".559", i64 8
  %".581" = load float, ptr %"tmp0.origin.at.5", align 4
  %".582" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".581", i32 0
  %"tmp0.origin.value.1" = shufflevector <8 x float> %".582", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.33" = fmul contract <8 x float> %"tmp0.origin.value.1", %"in2.value"
  %".585" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.33" = fadd contract <8 x float> %".585", %"multiply.33"
  store <8 x float> %"add.33", <8 x float>* %"sum.9"
  %"tmp0.origin.at.6" = getelementptr float, ptr %".559", i64 16
  %".589" = load float, ptr %"tmp0.origin.at.6", align 4
  %".590" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".589", i32 0
  %"tmp0.origin.value.2" = shufflevector <8 x float> %".590", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.34" = fmul contract <8 x float> %"tmp0.origin.value.2", %"in2.value"
  %".593" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.34" = fadd contract <8 x float> %".593", %"multiply.34"
  store <8 x float> %"add.34", <8 x float>* %"sum.10"
  %"tmp0.origin.at.7" = getelementptr float, ptr %".559", i64 24
  %".597" = load float, ptr %"tmp0.origin.at.7", align 4
  %".598" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".597", i32 0
  %"tmp0.origin.value.3" = shufflevector <8 x float> %".598", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.35" = fmul contract <8 x float> %"tmp0.origin.value.3", %"in2.value"
  %".601" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.35" = fadd contract <8 x float> %".601", %"multiply.35"
  store <8 x float> %"add.35", <8 x float>* %"sum.11"
  %"tmp0.origin.at.8" = getelementptr float, ptr %".559", i64 1
  %".605" = load float, ptr %"tmp0.origin.at.8", align 4
  %".606" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".605", i32 0
  %"tmp0.origin.value.4" = shufflevector <8 x float> %".606", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.1" = getelementptr float, ptr %".573", i64 8
  %"in2.value.1" = load <8 x float>, ptr %"in2.at.1", align 4
  %"multiply.36" = fmul contract <8 x float> %"tmp0.origin.value.4", %"in2.value.1"
  %".611" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.36" = fadd contract <8 x float> %".611", %"multiply.36"
  store <8 x float> %"add.36", <8 x float>* %"sum.8"
  %"tmp0.origin.at.9" = getelementptr float, ptr %".559", i64 9
  %".615" = load float, ptr %"tmp0.origin.at.9", align 4
  %".616" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".615", i32 0
  %"tmp0.origin.value.5" = shufflevector <8 x float> %".616", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.37" = fmul contract <8 x float> %"tmp0.origin.value.5", %"in2.value.1"
  %".619" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.37" = fadd contract <8 x float> %".619", %"multiply.37"
  store <8 x float> %"add.37", <8 x float>* %"sum.9"
  %"tmp0.origin.at.10" = getelementptr float, ptr %".559", i64 17
  %".623" = load float, ptr %"tmp0.origin.at.10", align 4
  %".624" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".623", i32 0
  %"tmp0.origin.value.6" = shufflevector <8 x float> %".624", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.38" = fmul contract <8 x float> %"tmp0.origin.value.6", %"in2.value.1"
  %".627" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.38" = fadd contract <8 x float> %".627", %"multiply.38"
  store <8 x float> %"add.38", <8 x float>* %"sum.10"
  %"tmp0.origin.at.11" = getelementptr float, ptr %".559", i64 25
  %".631" = load float, ptr %"tmp0.origin.at.11", align 4
  %".632" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".631", i32 0
  %"tmp0.origin.value.7" = shufflevector <8 x float> %".632", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.39" = fmul contract <8 x float> %"tmp0.origin.value.7", %"in2.value.1"
  %".635" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.39" = fadd contract <8 x float> %".635", %"multiply.39"
  store <8 x float> %"add.39", <8 x float>* %"sum.11"
  %"tmp0.origin.at.12" = getelementptr float, ptr %".559", i64 2
  %".639" = load float, ptr %"tmp0.origin.at.12", align 4
  %".640" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".639", i32 0
  %"tmp0.origin.value.8" = shufflevector <8 x float> %".640", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.2" = getelementptr float, ptr %".573", i64 16
  %"in2.value.2" = load <8 x float>, ptr %"in2.at.2", align 4
  %"multiply.40" = fmul contract <8 x float> %"tmp0.origin.value.8", %"in2.value.2"
  %".645" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.40" = fadd contract <8 x float> %".645", %"multiply.40"
  store <8 x float> %"add.40", <8 x float>* %"sum.8"
  %"tmp0.origin.at.13" = getelementptr float, ptr %".559", i64 10
  %".649" = load float, ptr %"tmp0.origin.at.13", align 4
  %".650" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".649", i32 0
  %"tmp0.origin.value.9" = shufflevector <8 x float> %".650", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.41" = fmul contract <8 x float> %"tmp0.origin.value.9", %"in2.value.2"
  %".653" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.41" = fadd contract <8 x float> %".653", %"multiply.41"
  store <8 x float> %"add.41", <8 x float>* %"sum.9"
  %"tmp0.origin.at.14" = getelementptr float, ptr %".559", i64 18
  %".657" = load float, ptr %"tmp0.origin.at.14", align 4
  %".658" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".657", i32 0
  %"tmp0.origin.value.10" = shufflevector <8 x float> %".658", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.42" = fmul contract <8 x float> %"tmp0.origin.value.10", %"in2.value.2"
  %".661" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.42" = fadd contract <8 x float> %".661", %"multiply.42"
  store <8 x float> %"add.42", <8 x float>* %"sum.10"
  %"tmp0.origin.at.15" = getelementptr float, ptr %".559", i64 26
  %".665" = load float, ptr %"tmp0.origin.at.15", align 4
  %".666" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".665", i32 0
  %"tmp0.origin.value.11" = shufflevector <8 x float> %".666", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.43" = fmul contract <8 x float> %"tmp0.origin.value.11", %"in2.value.2"
  %".669" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.43" = fadd contract <8 x float> %".669", %"multiply.43"
  store <8 x float> %"add.43", <8 x float>* %"sum.11"
  %"tmp0.origin.at.16" = getelementptr float, ptr %".559", i64 3
  %".673" = load float, ptr %"tmp0.origin.at.16", align 4
  %".674" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".673", i32 0
  %"tmp0.origin.value.12" = shufflevector <8 x float> %".674", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.3" = getelementptr float, ptr %".573", i64 24
  %"in2.value.3" = load <8 x float>, ptr %"in2.at.3", align 4
  %"multiply.44" = fmul contract <8 x float> %"tmp0.origin.value.12", %"in2.value.3"
  %".679" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.44" = fadd contract <8 x float> %".679", %"multiply.44"
  store <8 x float> %"add.44", <8 x float>* %"sum.8"
  %"tmp0.origin.at.17" = getelementptr float, ptr %".559", i64 11
  %".683" = load float, ptr %"tmp0.origin.at.17", align 4
  %".684" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".683", i32 0
  %"tmp0.origin.value.13" = shufflevector <8 x float> %".684", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.45" = fmul contract <8 x float> %"tmp0.origin.value.13", %"in2.value.3"
  %".687" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.45" = fadd contract <8 x float> %".687", %"multiply.45"
  store <8 x float> %"add.45", <8 x float>* %"sum.9"
  %"tmp0.origin.at.18" = getelementptr float, ptr %".559", i64 19
  %".691" = load float, ptr %"tmp0.origin.at.18", align 4
  %".692" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".691", i32 0
  %"tmp0.origin.value.14" = shufflevector <8 x float> %".692", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.46" = fmul contract <8 x float> %"tmp0.origin.value.14", %"in2.value.3"
  %".695" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.46" = fadd contract <8 x float> %".695", %"multiply.46"
  store <8 x float> %"add.46", <8 x float>* %"sum.10"
  %"tmp0.origin.at.19" = getelementptr float, ptr %".559", i64 27
  %".699" = load float, ptr %"tmp0.origin.at.19", align 4
  %".700" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".699", i32 0
  %"tmp0.origin.value.15" = shufflevector <8 x float> %".700", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.47" = fmul contract <8 x float> %"tmp0.origin.value.15", %"in2.value.3"
  %".703" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.47" = fadd contract <8 x float> %".703", %"multiply.47"
  store <8 x float> %"add.47", <8 x float>* %"sum.11"
  %"tmp0.origin.at.20" = getelementptr float, ptr %".559", i64 4
  %".707" = load float, ptr %"tmp0.origin.at.20", align 4
  %".708" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".707", i32 0
  %"tmp0.origin.value.16" = shufflevector <8 x float> %".708", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.4" = getelementptr float, ptr %".573", i64 32
  %"in2.value.4" = load <8 x float>, ptr %"in2.at.4", align 4
  %"multiply.48" = fmul contract <8 x float> %"tmp0.origin.value.16", %"in2.value.4"
  %".713" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.48" = fadd contract <8 x float> %".713", %"multiply.48"
  store <8 x float> %"add.48", <8 x float>* %"sum.8"
  %"tmp0.origin.at.21" = getelementptr float, ptr %".559", i64 12
  %".717" = load float, ptr %"tmp0.origin.at.21", align 4
  %".718" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".717", i32 0
  %"tmp0.origin.value.17" = shufflevector <8 x float> %".718", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.49" = fmul contract <8 x float> %"tmp0.origin.value.17", %"in2.value.4"
  %".721" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.49" = fadd contract <8 x float> %".721", %"multiply.49"
  store <8 x float> %"add.49", <8 x float>* %"sum.9"
  %"tmp0.origin.at.22" = getelementptr float, ptr %".559", i64 20
  %".725" = load float, ptr %"tmp0.origin.at.22", align 4
  %".726" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".725", i32 0
  %"tmp0.origin.value.18" = shufflevector <8 x float> %".726", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.50" = fmul contract <8 x float> %"tmp0.origin.value.18", %"in2.value.4"
  %".729" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.50" = fadd contract <8 x float> %".729", %"multiply.50"
  store <8 x float> %"add.50", <8 x float>* %"sum.10"
  %"tmp0.origin.at.23" = getelementptr float, ptr %".559", i64 28
  %".733" = load float, ptr %"tmp0.origin.at.23", align 4
  %".734" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".733", i32 0
  %"tmp0.origin.value.19" = shufflevector <8 x float> %".734", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.51" = fmul contract <8 x float> %"tmp0.origin.value.19", %"in2.value.4"
  %".737" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.51" = fadd contract <8 x float> %".737", %"multiply.51"
  store <8 x float> %"add.51", <8 x float>* %"sum.11"
  %"tmp0.origin.at.24" = getelementptr float, ptr %".559", i64 5
  %".741" = load float, ptr %"tmp0.origin.at.24", align 4
  %".742" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".741", i32 0
  %"tmp0.origin.value.20" = shufflevector <8 x float> %".742", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.5" = getelementptr float, ptr %".573", i64 40
  %"in2.value.5" = load <8 x float>, ptr %"in2.at.5", align 4
  %"multiply.52" = fmul contract <8 x float> %"tmp0.origin.value.20", %"in2.value.5"
  %".747" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.52" = fadd contract <8 x float> %".747", %"multiply.52"
  store <8 x float> %"add.52", <8 x float>* %"sum.8"
  %"tmp0.origin.at.25" = getelementptr float, ptr %".559", i64 13
  %".751" = load float, ptr %"tmp0.origin.at.25", align 4
  %".752" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".751", i32 0
  %"tmp0.origin.value.21" = shufflevector <8 x float> %".752", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.53" = fmul contract <8 x float> %"tmp0.origin.value.21", %"in2.value.5"
  %".755" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.53" = fadd contract <8 x float> %".755", %"multiply.53"
  store <8 x float> %"add.53", <8 x float>* %"sum.9"
  %"tmp0.origin.at.26" = getelementptr float, ptr %".559", i64 21
  %".759" = load float, ptr %"tmp0.origin.at.26", align 4
  %".760" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".759", i32 0
  %"tmp0.origin.value.22" = shufflevector <8 x float> %".760", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.54" = fmul contract <8 x float> %"tmp0.origin.value.22", %"in2.value.5"
  %".763" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.54" = fadd contract <8 x float> %".763", %"multiply.54"
  store <8 x float> %"add.54", <8 x float>* %"sum.10"
  %"tmp0.origin.at.27" = getelementptr float, ptr %".559", i64 29
  %".767" = load float, ptr %"tmp0.origin.at.27", align 4
  %".768" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".767", i32 0
  %"tmp0.origin.value.23" = shufflevector <8 x float> %".768", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.55" = fmul contract <8 x float> %"tmp0.origin.value.23", %"in2.value.5"
  %".771" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.55" = fadd contract <8 x float> %".771", %"multiply.55"
  store <8 x float> %"add.55", <8 x float>* %"sum.11"
  %"tmp0.origin.at.28" = getelementptr float, ptr %".559", i64 6
  %".775" = load float, ptr %"tmp0.origin.at.28", align 4
  %".776" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".775", i32 0
  %"tmp0.origin.value.24" = shufflevector <8 x float> %".776", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.6" = getelementptr float, ptr %".573", i64 48
  %"in2.value.6" = load <8 x float>, ptr %"in2.at.6", align 4
  %"multiply.56" = fmul contract <8 x float> %"tmp0.origin.value.24", %"in2.value.6"
  %".781" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.56" = fadd contract <8 x float> %".781", %"multiply.56"
  store <8 x float> %"add.56", <8 x float>* %"sum.8"
  %"tmp0.origin.at.29" = getelementptr float, ptr %".559", i64 14
  %".785" = load float, ptr %"tmp0.origin.at.29", align 4
  %".786" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".785", i32 0
  %"tmp0.origin.value.25" = shufflevector <8 x float> %".786", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.57" = fmul contract <8 x float> %"tmp0.origin.value.25", %"in2.value.6"
  %".789" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.57" = fadd contract <8 x float> %".789", %"multiply.57"
  store <8 x float> %"add.57", <8 x float>* %"sum.9"
  %"tmp0.origin.at.30" = getelementptr float, ptr %".559", i64 22
  %".793" = load float, ptr %"tmp0.origin.at.30", align 4
  %".794" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".793", i32 0
  %"tmp0.origin.value.26" = shufflevector <8 x float> %".794", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.58" = fmul contract <8 x float> %"tmp0.origin.value.26", %"in2.value.6"
  %".797" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.58" = fadd contract <8 x float> %".797", %"multiply.58"
  store <8 x float> %"add.58", <8 x float>* %"sum.10"
  %"tmp0.origin.at.31" = getelementptr float, ptr %".559", i64 30
  %".801" = load float, ptr %"tmp0.origin.at.31", align 4
  %".802" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".801", i32 0
  %"tmp0.origin.value.27" = shufflevector <8 x float> %".802", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.59" = fmul contract <8 x float> %"tmp0.origin.value.27", %"in2.value.6"
  %".805" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.59" = fadd contract <8 x float> %".805", %"multiply.59"
  store <8 x float> %"add.59", <8 x float>* %"sum.11"
  %"tmp0.origin.at.32" = getelementptr float, ptr %".559", i64 7
  %".809" = load float, ptr %"tmp0.origin.at.32", align 4
  %".810" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".809", i32 0
  %"tmp0.origin.value.28" = shufflevector <8 x float> %".810", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.7" = getelementptr float, ptr %".573", i64 56
  %"in2.value.7" = load <8 x float>, ptr %"in2.at.7", align 4
  %"multiply.60" = fmul contract <8 x float> %"tmp0.origin.value.28", %"in2.value.7"
  %".815" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.60" = fadd contract <8 x float> %".815", %"multiply.60"
  store <8 x float> %"add.60", <8 x float>* %"sum.8"
  %"tmp0.origin.at.33" = getelementptr float, ptr %".559", i64 15
  %".819" = load float, ptr %"tmp0.origin.at.33", align 4
  %".820" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".819", i32 0
  %"tmp0.origin.value.29" = shufflevector <8 x float> %".820", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.61" = fmul contract <8 x float> %"tmp0.origin.value.29", %"in2.value.7"
  %".823" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.61" = fadd contract <8 x float> %".823", %"multiply.61"
  store <8 x float> %"add.61", <8 x float>* %"sum.9"
  %"tmp0.origin.at.34" = getelementptr float, ptr %".559", i64 23
  %".827" = load float, ptr %"tmp0.origin.at.34", align 4
  %".828" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".827", i32 0
  %"tmp0.origin.value.30" = shufflevector <8 x float> %".828", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.62" = fmul contract <8 x float> %"tmp0.origin.value.30", %"in2.value.7"
  %".831" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.62" = fadd contract <8 x float> %".831", %"multiply.62"
  store <8 x float> %"add.62", <8 x float>* %"sum.10"
  %"tmp0.origin.at.35" = getelementptr float, ptr %".559", i64 31
  %".835" = load float, ptr %"tmp0.origin.at.35", align 4
  %".836" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".835", i32 0
  %"tmp0.origin.value.31" = shufflevector <8 x float> %".836", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.63" = fmul contract <8 x float> %"tmp0.origin.value.31", %"in2.value.7"
  %".839" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.63" = fadd contract <8 x float> %".839", %"multiply.63"
  store <8 x float> %"add.63", <8 x float>* %"sum.11"
  %".842" = load <8 x float>, <8 x float>* %"sum.8"
  %".843" = load <8 x float>, <8 x float>* %"sum.9"
  %".844" = load <8 x float>, <8 x float>* %"sum.10"
  %".845" = load <8 x float>, <8 x float>* %"sum.11"
  %".846" = mul nsw i64 %"i0.2", 144
  %".847" = add nsw i64 0, %".846"
  %".848" = mul nsw i64 %"i1.2", 32
  %".849" = add nsw i64 %".847", %".848"
  %".850" = mul nsw i64 %"i2.1", 8
  %".851" = add nsw i64 %".849", %".850"
  %".852" = mul nsw i64 %"i3.2", 1
  %".853" = add nsw i64 %".851", %".852"
  %".854" = getelementptr float, ptr %"tmp1.origin", i64 %".853"
  %"tmp1.origin.at" = getelementptr float, ptr %".854", i64 0
  store <8 x float> %".842", ptr %"tmp1.origin.at", align 4
  %".857" = mul nsw i64 %"i0.2", 144
  %".858" = add nsw i64 0, %".857"
  %".859" = mul nsw i64 %"i1.2", 32
  %".860" = add nsw i64 %".858", %".859"
  %".861" = mul nsw i64 %"i2.1", 8
  %".862" = add nsw i64 %".860", %".861"
  %".863" = mul nsw i64 %"i3.2", 1
  %".864" = add nsw i64 %".862", %".863"
  %".865" = getelementptr float, ptr %"tmp1.origin", i64 %".864"
  %"tmp1.origin.at.1" = getelementptr float, ptr %".865", i64 8
  store <8 x float> %".843", ptr %"tmp1.origin.at.1", align 4
  %".868" = mul nsw i64 %"i0.2", 144
  %".869" = add nsw i64 0, %".868"
  %".870" = mul nsw i64 %"i1.2", 32
  %".871" = add nsw i64 %".869", %".870"
  %".872" = mul nsw i64 %"i2.1", 8
  %".873" = add nsw i64 %".871", %".872"
  %".874" = mul nsw i64 %"i3.2", 1
  %".875" = add nsw i64 %".873", %".874"
  %".876" = getelementptr float, ptr %"tmp1.origin", i64 %".875"
  %"tmp1.origin.at.2" = getelementptr float, ptr %".876", i64 16
  store <8 x float> %".844", ptr %"tmp1.origin.at.2", align 4
  %".879" = mul nsw i64 %"i0.2", 144
  %".880" = add nsw i64 0, %".879"
  %".881" = mul nsw i64 %"i1.2", 32
  %".882" = add nsw i64 %".880", %".881"
  %".883" = mul nsw i64 %"i2.1", 8
  %".884" = add nsw i64 %".882", %".883"
  %".885" = mul nsw i64 %"i3.2", 1
  %".886" = add nsw i64 %".884", %".885"
  %".887" = getelementptr float, ptr %"tmp1.origin", i64 %".886"
  %"tmp1.origin.at.3" = getelementptr float, ptr %".887", i64 24
  store <8 x float> %".845", ptr %"tmp1.origin.at.3", align 4
  %"i2.next.1" = add nsw i64 %"i2.1", 4
  br label %"i2.loop.1"
i2.after.1:
  %"i3.next.2" = add nsw i64 %"i3.2", 8
  br label %"i3.loop.2"
i1.loop.3:
  %"i1.3" = phi  i64 [%".901", %"i0.after.2"], [%"i1.next.3", %"i0.after.3"]
  %".905" = icmp slt i64 %"i1.3", %".903"
  br i1 %".905", label %"i1.body.3", label %"i1.after.3"
i1.body.3:
  %".907" = add i64 0, 2
  br label %"i0.loop.3"
i1.after.3:
  %".1183" = add i64 0, 1
  %".1184" = add i64 0, 8
  %".1185" = add i64 0, 4
  %".1186" = add i64 0, 4
  %".1187" = udiv i64 0, 2
  %".1188" = udiv i64 %".1185", 2
  br label %"i1.loop.4"
i0.loop.3:
  %"i0.3" = phi  i64 [0, %"i1.body.3"], [%"i0.next.3", %"i0.body.3"]
  %".909" = icmp slt i64 %"i0.3", %".907"
  br i1 %".909", label %"i0.body.3", label %"i0.after.3"
i0.body.3:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.12"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.13"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.14"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.15"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.16"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.17"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.18"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.19"
  %".919" = mul nsw i64 %"i1.3", 1
  %".920" = add nsw i64 0, %".919"
  %".921" = getelementptr float, ptr %"tmp1.origin", i64 %".920"
  %"tmp1.origin.at.4" = getelementptr float, ptr %".921", i64 0
  %"tmp1.origin.value" = load <8 x float>, ptr %"tmp1.origin.at.4", align 4
  %".924" = mul nsw i64 %"i0.3", 4
  %".925" = add nsw i64 0, %".924"
  %".926" = getelementptr float, ptr %"in3", i64 %".925"
  %"in3.at" = getelementptr float, ptr %".926", i64 0
  %".928" = load float, ptr %"in3.at", align 4
  %".929" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".928", i32 0
  %"in3.value" = shufflevector <8 x float> %".929", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.64" = fmul contract <8 x float> %"tmp1.origin.value", %"in3.value"
  %".932" = load <8 x float>, <8 x float>* %"sum.12"
  %"add.64" = fadd contract <8 x float> %".932", %"multiply.64"
  store <8 x float> %"add.64", <8 x float>* %"sum.12"
  %"tmp1.origin.at.5" = getelementptr float, ptr %".921", i64 8
  %"tmp1.origin.value.1" = load <8 x float>, ptr %"tmp1.origin.at.5", align 4
  %"multiply.65" = fmul contract <8 x float> %"tmp1.origin.value.1", %"in3.value"
  %".938" = load <8 x float>, <8 x float>* %"sum.13"
  %"add.65" = fadd contract <8 x float> %".938", %"multiply.65"
  store <8 x float> %"add.65", <8 x float>* %"sum.13"
  %"tmp1.origin.at.6" = getelementptr float, ptr %".921", i64 16
  %"tmp1.origin.value.2" = load <8 x float>, ptr %"tmp1.origin.at.6", align 4
  %"multiply.66" = fmul contract <8 x float> %"tmp1.origin.value.2", %"in3.value"
  %".944" = load <8 x float>, <8 x float>* %"sum.14"
  %"add.66" = fadd contract <8 x float> %".944", %"multiply.66"
  store <8 x float> %"add.66", <8 x float>* %"sum.14"
  %"tmp1.origin.at.7" = getelementptr float, ptr %".921", i64 24
  %"tmp1.origin.value.3" = load <8 x float>, ptr %"tmp1.origin.at.7", align 4
  %"multiply.67" = fmul contract <8 x float> %"tmp1.origin.value.3", %"in3.value"
  %".950" = load <8 x float>, <8 x float>* %"sum.15"
  %"add.67" = fadd contract <8 x float> %".950", %"multiply.67"
  store <8 x float> %"add.67", <8 x float>* %"sum.15"
  %"in3.at.1" = getelementptr float, ptr %".926", i64 4
  %".954" = load float, ptr %"in3.at.1", align 4
  %".955" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".954", i32 0
  %"in3.value.1" = shufflevector <8 x float> %".955", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.68" = fmul contract <8 x float> %"tmp1.origin.value", %"in3.value.1"
  %".958" = load <8 x float>, <8 x float>* %"sum.16"
  %"add.68" = fadd contract <8 x float> %".958", %"multiply.68"
  store <8 x float> %"add.68", <8 x float>* %"sum.16"
  %"multiply.69" = fmul contract <8 x float> %"tmp1.origin.value.1", %"in3.value.1"
  %".962" = load <8 x float>, <8 x float>* %"sum.17"
  %"add.69" = fadd contract <8 x float> %".962", %"multiply.69"
  store <8 x float> %"add.69", <8 x float>* %"sum.17"
  %"multiply.70" = fmul contract <8 x float> %"tmp1.origin.value.2", %"in3.value.1"
  %".966" = load <8 x float>, <8 x float>* %"sum.18"
  %"add.70" = fadd contract <8 x float> %".966", %"multiply.70"
  store <8 x float> %"add.70", <8 x float>* %"sum.18"
  %"multiply.71" = fmul contract <8 x float> %"tmp1.origin.value.3", %"in3.value.1"
  %".970" = load <8 x float>, <8 x float>* %"sum.19"
  %"add.71" = fadd contract <8 x float> %".970", %"multiply.71"
  store <8 x float> %"add.71", <8 x float>* %"sum.19"
  %"tmp1.origin.at.8" = getelementptr float, ptr %".921", i64 144
  %"tmp1.origin.value.4" = load <8 x float>, ptr %"tmp1.origin.at.8", align 4
  %"in3.at.2" = getelementptr float, ptr %".926", i64 1
  %".976" = load float, ptr %"in3.at.2", align 4
  %".977" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".976", i32 0
  %"in3.value.2" = shufflevector <8 x float> %".977", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.72" = fmul contract <8 x float> %"tmp1.origin.value.4", %"in3.value.2"
  %".980" = load <8 x float>, <8 x float>* %"sum.12"
  %"add.72" = fadd contract <8 x float> %".980", %"multiply.72"
  store <8 x float> %"add.72", <8 x float>* %"sum.12"
  %"tmp1.origin.at.9" = getelementptr float, ptr %".921", i64 152
  %"tmp1.origin.value.5" = load <8 x float>, ptr %"tmp1.origin.at.9", align 4
  %"multiply.73" = fmul contract <8 x float> %"tmp1.origin.value.5", %"in3.value.2"
  %".986" = load <8 x float>, <8 x float>* %"sum.13"
  %"add.73" = fadd contract <8 x float> %".986", %"multiply.73"
  store <8 x float> %"add.73", <8 x float>* %"sum.13"
  %"tmp1.origin.at.10" = getelementptr float, ptr %".921", i64 160
  %"tmp1.origin.value.6" = load <8 x float>, ptr %"tmp1.origin.at.10", align 4
  %"multiply.74" = fmul contract <8 x float> %"tmp1.origin.value.6", %"in3.value.2"
  %".992" = load <8 x float>, <8 x float>* %"sum.14"
  %"add.74" = fadd contract <8 x float> %".992", %"multiply.74"
  store <8 x float> %"add.74", <8 x float>* %"sum.14"
  %"tmp1.origin.at.11" = getelementptr float, ptr %".921", i64 168
  %"tmp1.origin.value.7" = load <8 x float>, ptr %"tmp1.origin.at.11", align 4
  %"multiply.75" = fmul contract <8 x float> %"tmp1.origin.value.7", %"in3.value.2"
  %".998" = load <8 x float>, <8 x float>* %"sum.15"
  %"add.75" = fadd contract <8 x float> %".998", %"multiply.75"
  store <8 x float> %"add.75", <8 x float>* %"sum.15"
  %"in3.at.3" = getelementptr float, ptr %".926", i64 5
  %".1002" = load float, ptr %"in3.at.3", align 4
  %".1003" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1002", i32 0
  %"in3.value.3" = shufflevector <8 x float> %".1003", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.76" = fmul contract <8 x float> %"tmp1.origin.value.4", %"in3.value.3"
  %".1006" = load <8 x float>, <8 x float>* %"sum.16"
  %"add.76" = fadd contract <8 x float> %".1006", %"multiply.76"
  store <8 x float> %"add.76", <8 x float>* %"sum.16"
  %"multiply.77" = fmul contract <8 x float> %"tmp1.origin.value.5", %"in3.value.3"
  %".1010" = load <8 x float>, <8 x float>* %"sum.17"
  %"add.77" = fadd contract <8 x float> %".1010", %"multiply.77"
  store <8 x float> %"add.77", <8 x float>* %"sum.17"
  %"multiply.78" = fmul contract <8 x float> %"tmp1.origin.value.6", %"in3.value.3"
  %".1014" = load <8 x float>, <8 x float>* %"sum.18"
  %"add.78" = fadd contract <8 x float> %".1014", %"multiply.78"
  store <8 x float> %"add.78", <8 x float>* %"sum.18"
  %"multiply.79" = fmul contract <8 x float> %"tmp1.origin.value.7", %"in3.value.3"
  %".1018" = load <8 x float>, <8 x float>* %"sum.19"
  %"add.79" = fadd contract <8 x float> %".1018", %"multiply.79"
  store <8 x float> %"add.79", <8 x float>* %"sum.19"
  %"tmp1.origin.at.12" = getelementptr float, ptr %".921", i64 288
  %"tmp1.origin.value.8" = load <8 x float>, ptr %"tmp1.origin.at.12", align 4
  %"in3.at.4" = getelementptr float, ptr %".926", i64 2
  %".1024" = load float, ptr %"in3.at.4", align 4
  %".1025" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1024", i32 0
  %"in3.value.4" = shufflevector <8 x float> %".1025", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.80" = fmul contract <8 x float> %"tmp1.origin.value.8", %"in3.value.4"
  %".1028" = load <8 x float>, <8 x float>* %"sum.12"
  %"add.80" = fadd contract <8 x float> %".1028", %"multiply.80"
  store <8 x float> %"add.80", <8 x float>* %"sum.12"
  %"tmp1.origin.at.13" = getelementptr float, ptr %".921", i64 296
  %"tmp1.origin.value.9" = load <8 x float>, ptr %"tmp1.origin.at.13", align 4
  %"multiply.81" = fmul contract <8 x float> %"tmp1.origin.value.9", %"in3.value.4"
  %".1034" = load <8 x float>, <8 x float>* %"sum.13"
  %"add.81" = fadd contract <8 x float> %".1034", %"multiply.81"
  store <8 x float> %"add.81", <8 x float>* %"sum.13"
  %"tmp1.origin.at.14" = getelementptr float, ptr %".921", i64 304
  %"tmp1.origin.value.10" = load <8 x float>, ptr %"tmp1.origin.at.14", align 4
  %"multiply.82" = fmul contract <8 x float> %"tmp1.origin.value.10", %"in3.value.4"
  %".1040" = load <8 x float>, <8 x float>* %"sum.14"
  %"add.82" = fadd contract <8 x float> %".1040", %"multiply.82"
  store <8 x float> %"add.82", <8 x float>* %"sum.14"
  %"tmp1.origin.at.15" = getelementptr float, ptr %".921", i64 312
  %"tmp1.origin.value.11" = load <8 x float>, ptr %"tmp1.origin.at.15", align 4
  %"multiply.83" = fmul contract <8 x float> %"tmp1.origin.value.11", %"in3.value.4"
  %".1046" = load <8 x float>, <8 x float>* %"sum.15"
  %"add.83" = fadd contract <8 x float> %".1046", %"multiply.83"
  store <8 x float> %"add.83", <8 x float>* %"sum.15"
  %"in3.at.5" = getelementptr float, ptr %".926", i64 6
  %".1050" = load float, ptr %"in3.at.5", align 4
  %".1051" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1050", i32 0
  %"in3.value.5" = shufflevector <8 x float> %".1051", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.84" = fmul contract <8 x float> %"tmp1.origin.value.8", %"in3.value.5"
  %".1054" = load <8 x float>, <8 x float>* %"sum.16"
  %"add.84" = fadd contract <8 x float> %".1054", %"multiply.84"
  store <8 x float> %"add.84", <8 x float>* %"sum.16"
  %"multiply.85" = fmul contract <8 x float> %"tmp1.origin.value.9", %"in3.value.5"
  %".1058" = load <8 x float>, <8 x float>* %"sum.17"
  %"add.85" = fadd contract <8 x float> %".1058", %"multiply.85"
  store <8 x float> %"add.85", <8 x float>* %"sum.17"
  %"multiply.86" = fmul contract <8 x float> %"tmp1.origin.value.10", %"in3.value.5"
  %".1062" = load <8 x float>, <8 x float>* %"sum.18"
  %"add.86" = fadd contract <8 x float> %".1062", %"multiply.86"
  store <8 x float> %"add.86", <8 x float>* %"sum.18"
  %"multiply.87" = fmul contract <8 x float> %"tmp1.origin.value.11", %"in3.value.5"
  %".1066" = load <8 x float>, <8 x float>* %"sum.19"
  %"add.87" = fadd contract <8 x float> %".1066", %"multiply.87"
  store <8 x float> %"add.87", <8 x float>* %"sum.19"
  %"tmp1.origin.at.16" = getelementptr float, ptr %".921", i64 432
  %"tmp1.origin.value.12" = load <8 x float>, ptr %"tmp1.origin.at.16", align 4
  %"in3.at.6" = getelementptr float, ptr %".926", i64 3
  %".1072" = load float, ptr %"in3.at.6", align 4
  %".1073" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1072", i32 0
  %"in3.value.6" = shufflevector <8 x float> %".1073", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.88" = fmul contract <8 x float> %"tmp1.origin.value.12", %"in3.value.6"
  %".1076" = load <8 x float>, <8 x float>* %"sum.12"
  %"add.88" = fadd contract <8 x float> %".1076", %"multiply.88"
  store <8 x float> %"add.88", <8 x float>* %"sum.12"
  %"tmp1.origin.at.17" = getelementptr float, ptr %".921", i64 440
  %"tmp1.origin.value.13" = load <8 x float>, ptr %"tmp1.origin.at.17", align 4
  %"multiply.89" = fmul contract <8 x float> %"tmp1.origin.value.13", %"in3.value.6"
  %".1082" = load <8 x float>, <8 x float>* %"sum.13"
  %"add.89" = fadd contract <8 x float> %".1082", %"multiply.89"
  store <8 x float> %"add.89", <8 x float>* %"sum.13"
  %"tmp1.origin.at.18" = getelementptr float, ptr %".921", i64 448
  %"tmp1.origin.value.14" = load <8 x float>, ptr %"tmp1.origin.at.18", align 4
  %"multiply.90" = fmul contract <8 x float> %"tmp1.origin.value.14", %"in3.value.6"
  %".1088" = load <8 x float>, <8 x float>* %"sum.14"
  %"add.90" = fadd contract <8 x float> %".1088", %"multiply.90"
  store <8 x float> %"add.90", <8 x float>* %"sum.14"
  %"tmp1.origin.at.19" = getelementptr float, ptr %".921", i64 456
  %"tmp1.origin.value.15" = load <8 x float>, ptr %"tmp1.origin.at.19", align 4
  %"multiply.91" = fmul contract <8 x float> %"tmp1.origin.value.15", %"in3.value.6"
  %".1094" = load <8 x float>, <8 x float>* %"sum.15"
  %"add.91" = fadd contract <8 x float> %".1094", %"multiply.91"
  store <8 x float> %"add.91", <8 x float>* %"sum.15"
  %"in3.at.7" = getelementptr float, ptr %".926", i64 7
  %".1098" = load float, ptr %"in3.at.7", align 4
  %".1099" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1098", i32 0
  %"in3.value.7" = shufflevector <8 x float> %".1099", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.92" = fmul contract <8 x float> %"tmp1.origin.value.12", %"in3.value.7"
  %".1102" = load <8 x float>, <8 x float>* %"sum.16"
  %"add.92" = fadd contract <8 x float> %".1102", %"multiply.92"
  store <8 x float> %"add.92", <8 x float>* %"sum.16"
  %"multiply.93" = fmul contract <8 x float> %"tmp1.origin.value.13", %"in3.value.7"
  %".1106" = load <8 x float>, <8 x float>* %"sum.17"
  %"add.93" = fadd contract <8 x float> %".1106", %"multiply.93"
  store <8 x float> %"add.93", <8 x float>* %"sum.17"
  %"multiply.94" = fmul contract <8 x float> %"tmp1.origin.value.14", %"in3.value.7"
  %".1110" = load <8 x float>, <8 x float>* %"sum.18"
  %"add.94" = fadd contract <8 x float> %".1110", %"multiply.94"
  store <8 x float> %"add.94", <8 x float>* %"sum.18"
  %"multiply.95" = fmul contract <8 x float> %"tmp1.origin.value.15", %"in3.value.7"
  %".1114" = load <8 x float>, <8 x float>* %"sum.19"
  %"add.95" = fadd contract <8 x float> %".1114", %"multiply.95"
  store <8 x float> %"add.95", <8 x float>* %"sum.19"
  %".1117" = load <8 x float>, <8 x float>* %"sum.12"
  %".1118" = load <8 x float>, <8 x float>* %"sum.13"
  %".1119" = load <8 x float>, <8 x float>* %"sum.14"
  %".1120" = load <8 x float>, <8 x float>* %"sum.15"
  %".1121" = load <8 x float>, <8 x float>* %"sum.16"
  %".1122" = load <8 x float>, <8 x float>* %"sum.17"
  %".1123" = load <8 x float>, <8 x float>* %"sum.18"
  %".1124" = load <8 x float>, <8 x float>* %"sum.19"
  %".1125" = mul nsw i64 %"i0.3", 144
  %".1126" = add nsw i64 0, %".1125"
  %".1127" = mul nsw i64 %"i1.3", 1
  %".1128" = add nsw i64 %".1126", %".1127"
  %".1129" = getelementptr float, ptr %"tmp3.origin", i64 %".1128"
  %"tmp3.origin.at" = getelementptr float, ptr %".1129", i64 0
  store <8 x float> %".1117", ptr %"tmp3.origin.at", align 4
  %".1132" = mul nsw i64 %"i0.3", 144
  %".1133" = add nsw i64 0, %".1132"
  %".1134" = mul nsw i64 %"i1.3", 1
  %".1135" = add nsw i64 %".1133", %".1134"
  %".1136" = getelementptr float, ptr %"tmp3.origin", i64 %".1135"
  %"tmp3.origin.at.1" = getelementptr float, ptr %".1136", i64 8
  store <8 x float> %".1118", ptr %"tmp3.origin.at.1", align 4
  %".1139" = mul nsw i64 %"i0.3", 144
  %".1140" = add nsw i64 0, %".1139"
  %".1141" = mul nsw i64 %"i1.3", 1
  %".1142" = add nsw i64 %".1140", %".1141"
  %".1143" = getelementptr float, ptr %"tmp3.origin", i64 %".1142"
  %"tmp3.origin.at.2" = getelementptr float, ptr %".1143", i64 16
  store <8 x float> %".1119", ptr %"tmp3.origin.at.2", align 4
  %".1146" = mul nsw i64 %"i0.3", 144
  %".1147" = add nsw i64 0, %".1146"
  %".1148" = mul nsw i64 %"i1.3", 1
  %".1149" = add nsw i64 %".1147", %".1148"
  %".1150" = getelementptr float, ptr %"tmp3.origin", i64 %".1149"
  %"tmp3.origin.at.3" = getelementptr float, ptr %".1150", i64 24
  store <8 x float> %".1120", ptr %"tmp3.origin.at.3", align 4
  %".1153" = mul nsw i64 %"i0.3", 144
  %".1154" = add nsw i64 0, %".1153"
  %".1155" = mul nsw i64 %"i1.3", 1
  %".1156" = add nsw i64 %".1154", %".1155"
  %".1157" = getelementptr float, ptr %"tmp3.origin", i64 %".1156"
  %"tmp3.origin.at.4" = getelementptr float, ptr %".1157", i64 144
  store <8 x float> %".1121", ptr %"tmp3.origin.at.4", align 4
  %".1160" = mul nsw i64 %"i0.3", 144
  %".1161" = add nsw i64 0, %".1160"
  %".1162" = mul nsw i64 %"i1.3", 1
  %".1163" = add nsw i64 %".1161", %".1162"
  %".1164" = getelementptr float, ptr %"tmp3.origin", i64 %".1163"
  %"tmp3.origin.at.5" = getelementptr float, ptr %".1164", i64 152
  store <8 x float> %".1122", ptr %"tmp3.origin.at.5", align 4
  %".1167" = mul nsw i64 %"i0.3", 144
  %".1168" = add nsw i64 0, %".1167"
  %".1169" = mul nsw i64 %"i1.3", 1
  %".1170" = add nsw i64 %".1168", %".1169"
  %".1171" = getelementptr float, ptr %"tmp3.origin", i64 %".1170"
  %"tmp3.origin.at.6" = getelementptr float, ptr %".1171", i64 160
  store <8 x float> %".1123", ptr %"tmp3.origin.at.6", align 4
  %".1174" = mul nsw i64 %"i0.3", 144
  %".1175" = add nsw i64 0, %".1174"
  %".1176" = mul nsw i64 %"i1.3", 1
  %".1177" = add nsw i64 %".1175", %".1176"
  %".1178" = getelementptr float, ptr %"tmp3.origin", i64 %".1177"
  %"tmp3.origin.at.7" = getelementptr float, ptr %".1178", i64 168
  store <8 x float> %".1124", ptr %"tmp3.origin.at.7", align 4
  %"i0.next.3" = add nsw i64 %"i0.3", 2
  br label %"i0.loop.3"
i0.after.3:
  %"i1.next.3" = add nsw i64 %"i1.3", 32
  br label %"i1.loop.3"
i1.loop.4:
  %"i1.4" = phi  i64 [%".1187", %"i1.after.3"], [%"i1.next.4", %"i2.after.2"]
  %".1190" = icmp slt i64 %"i1.4", %".1188"
  br i1 %".1190", label %"i1.body.4", label %"i1.after.4"
i1.body.4:
  br label %"i2.loop.2"
i1.after.4:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i2.loop.2:
  %"i2.2" = phi  i64 [0, %"i1.body.4"], [%"i2.next.2", %"i3.after.3"]
  %".1193" = icmp slt i64 %"i2.2", 2
  br i1 %".1193", label %"i2.body.2", label %"i2.after.2"
i2.body.2:
  %".1195" = udiv i64 0, 2
  %".1196" = udiv i64 %".1186", 2
  br label %"i3.loop.3"
i2.after.2:
  %"i1.next.4" = add nsw i64 %"i1.4", 1
  br label %"i1.loop.4"
i3.loop.3:
  %"i3.3" = phi  i64 [%".1195", %"i2.body.2"], [%"i3.next.3", %"i0.after.4"]
  %".1198" = icmp slt i64 %"i3.3", %".1196"
  br i1 %".1198", label %"i3.body.3", label %"i3.after.3"
i3.body.3:
  %".1200" = add i64 0, 8
  br label %"i0.loop.4"
i3.after.3:
  %"i2.next.2" = add nsw i64 %"i2.2", 1
  br label %"i2.loop.2"
i0.loop.4:
  %"i0.4" = phi  i64 [0, %"i3.body.3"], [%"i0.next.4", %"i4.after.1"]
  %".1202" = icmp slt i64 %"i0.4", %".1200"
  br i1 %".1202", label %"i0.body.4", label %"i0.after.4"
i0.body.4:
  %".1204" = add i64 0, 2
  br label %"i4.loop.1"
i0.after.4:
  %"i3.next.3" = add nsw i64 %"i3.3", 1
  br label %"i3.loop.3"
i4.loop.1:
  %"i4.1" = phi  i64 [0, %"i0.body.4"], [%"i4.next.1", %"i4.body.1"]
  %".1206" = icmp slt i64 %"i4.1", %".1204"
  br i1 %".1206", label %"i4.body.1", label %"i4.after.1"
i4.body.1:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.20"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.21"
  %".1210" = mul nsw i64 %"i2.2", 144
  %".1211" = add nsw i64 0, %".1210"
  %".1212" = mul nsw i64 %"i1.4", 16
  %".1213" = add nsw i64 %".1211", %".1212"
  %".1214" = mul nsw i64 %"i3.3", 8
  %".1215" = add nsw i64 %".1213", %".1214"
  %".1216" = mul nsw i64 %"i0.4", 1
  %".1217" = add nsw i64 %".1215", %".1216"
  %".1218" = getelementptr float, ptr %"tmp3.origin", i64 %".1217"
  %"tmp3.origin.at.8" = getelementptr float, ptr %".1218", i64 0
  %"tmp3.origin.value" = load <8 x float>, ptr %"tmp3.origin.at.8", align 4
  %".1221" = mul nsw i64 %"i4.1", 4
  %".1222" = add nsw i64 0, %".1221"
  %".1223" = getelementptr float, ptr %"in3", i64 %".1222"
  %"in3.at.8" = getelementptr float, ptr %".1223", i64 0
  %".1225" = load float, ptr %"in3.at.8", align 4
  %".1226" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1225", i32 0
  %"in3.value.8" = shufflevector <8 x float> %".1226", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.96" = fmul contract <8 x float> %"tmp3.origin.value", %"in3.value.8"
  %".1229" = load <8 x float>, <8 x float>* %"sum.20"
  %"add.96" = fadd contract <8 x float> %".1229", %"multiply.96"
  store <8 x float> %"add.96", <8 x float>* %"sum.20"
  %"in3.at.9" = getelementptr float, ptr %".1223", i64 4
  %".1233" = load float, ptr %"in3.at.9", align 4
  %".1234" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1233", i32 0
  %"in3.value.9" = shufflevector <8 x float> %".1234", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.97" = fmul contract <8 x float> %"tmp3.origin.value", %"in3.value.9"
  %".1237" = load <8 x float>, <8 x float>* %"sum.21"
  %"add.97" = fadd contract <8 x float> %".1237", %"multiply.97"
  store <8 x float> %"add.97", <8 x float>* %"sum.21"
  %"tmp3.origin.at.9" = getelementptr float, ptr %".1218", i64 32
  %"tmp3.origin.value.1" = load <8 x float>, ptr %"tmp3.origin.at.9", align 4
  %"in3.at.10" = getelementptr float, ptr %".1223", i64 1
  %".1243" = load float, ptr %"in3.at.10", align 4
  %".1244" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1243", i32 0
  %"in3.value.10" = shufflevector <8 x float> %".1244", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.98" = fmul contract <8 x float> %"tmp3.origin.value.1", %"in3.value.10"
  %".1247" = load <8 x float>, <8 x float>* %"sum.20"
  %"add.98" = fadd contract <8 x float> %".1247", %"multiply.98"
  store <8 x float> %"add.98", <8 x float>* %"sum.20"
  %"in3.at.11" = getelementptr float, ptr %".1223", i64 5
  %".1251" = load float, ptr %"in3.at.11", align 4
  %".1252" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1251", i32 0
  %"in3.value.11" = shufflevector <8 x float> %".1252", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.99" = fmul contract <8 x float> %"tmp3.origin.value.1", %"in3.value.11"
  %".1255" = load <8 x float>, <8 x float>* %"sum.21"
  %"add.99" = fadd contract <8 x float> %".1255", %"multiply.99"
  store <8 x float> %"add.99", <8 x float>* %"sum.21"
  %"tmp3.origin.at.10" = getelementptr float, ptr %".1218", i64 64
  %"tmp3.origin.value.2" = load <8 x float>, ptr %"tmp3.origin.at.10", align 4
  %"in3.at.12" = getelementptr float, ptr %".1223", i64 2
  %".1261" = load float, ptr %"in3.at.12", align 4
  %".1262" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1261", i32 0
  %"in3.value.12" = shufflevector <8 x float> %".1262", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.100" = fmul contract <8 x float> %"tmp3.origin.value.2", %"in3.value.12"
  %".1265" = load <8 x float>, <8 x float>* %"sum.20"
  %"add.100" = fadd contract <8 x float> %".1265", %"multiply.100"
  store <8 x float> %"add.100", <8 x float>* %"sum.20"
  %"in3.at.13" = getelementptr float, ptr %".1223", i64 6
  %".1269" = load float, ptr %"in3.at.13", align 4
  %".1270" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1269", i32 0
  %"in3.value.13" = shufflevector <8 x float> %".1270", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.101" = fmul contract <8 x float> %"tmp3.origin.value.2", %"in3.value.13"
  %".1273" = load <8 x float>, <8 x float>* %"sum.21"
  %"add.101" = fadd contract <8 x float> %".1273", %"multiply.101"
  store <8 x float> %"add.101", <8 x float>* %"sum.21"
  %"tmp3.origin.at.11" = getelementptr float, ptr %".1218", i64 96
  %"tmp3.origin.value.3" = load <8 x float>, ptr %"tmp3.origin.at.11", align 4
  %"in3.at.14" = getelementptr float, ptr %".1223", i64 3
  %".1279" = load float, ptr %"in3.at.14", align 4
  %".1280" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1279", i32 0
  %"in3.value.14" = shufflevector <8 x float> %".1280", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.102" = fmul contract <8 x float> %"tmp3.origin.value.3", %"in3.value.14"
  %".1283" = load <8 x float>, <8 x float>* %"sum.20"
  %"add.102" = fadd contract <8 x float> %".1283", %"multiply.102"
  store <8 x float> %"add.102", <8 x float>* %"sum.20"
  %"in3.at.15" = getelementptr float, ptr %".1223", i64 7
  %".1287" = load float, ptr %"in3.at.15", align 4
  %".1288" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".1287", i32 0
  %"in3.value.15" = shufflevector <8 x float> %".1288", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.103" = fmul contract <8 x float> %"tmp3.origin.value.3", %"in3.value.15"
  %".1291" = load <8 x float>, <8 x float>* %"sum.21"
  %"add.103" = fadd contract <8 x float> %".1291", %"multiply.103"
  store <8 x float> %"add.103", <8 x float>* %"sum.21"
  %".1294" = load <8 x float>, <8 x float>* %"sum.20"
  %".1295" = load <8 x float>, <8 x float>* %"sum.21"
  %".1296" = mul nsw i64 %"i0.4", 16
  %".1297" = add nsw i64 0, %".1296"
  %".1298" = mul nsw i64 %"i1.4", 8
  %".1299" = add nsw i64 %".1297", %".1298"
  %".1300" = mul nsw i64 %"i2.2", 4
  %".1301" = add nsw i64 %".1299", %".1300"
  %".1302" = mul nsw i64 %"i3.3", 2
  %".1303" = add nsw i64 %".1301", %".1302"
  %".1304" = mul nsw i64 %"i4.1", 1
  %".1305" = add nsw i64 %".1303", %".1304"
  %".1306" = getelementptr float, ptr %"out0", i64 %".1305"
  %"out0.at" = getelementptr float, ptr %".1306", i64 0
  %".1308" = getelementptr float, ptr %"out0.at", <8 x i32> <i32 0, i32 16, i32 32, i32 48, i32 64, i32 80, i32 96, i32 112>
  call void @"llvm.masked.scatter.v8f32.v8p0"(<8 x float> %".1294", <8 x ptr> %".1308", i32 4, <8 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1>)
  %".1310" = mul nsw i64 %"i0.4", 16
  %".1311" = add nsw i64 0, %".1310"
  %".1312" = mul nsw i64 %"i1.4", 8
  %".1313" = add nsw i64 %".1311", %".1312"
  %".1314" = mul nsw i64 %"i2.2", 4
  %".1315" = add nsw i64 %".1313", %".1314"
  %".1316" = mul nsw i64 %"i3.3", 2
  %".1317" = add nsw i64 %".1315", %".1316"
  %".1318" = mul nsw i64 %"i4.1", 1
  %".1319" = add nsw i64 %".1317", %".1318"
  %".1320" = getelementptr float, ptr %"out0", i64 %".1319"
  %"out0.at.1" = getelementptr float, ptr %".1320", i64 1
  %".1322" = getelementptr float, ptr %"out0.at.1", <8 x i32> <i32 0, i32 16, i32 32, i32 48, i32 64, i32 80, i32 96, i32 112>
  call void @"llvm.masked.scatter.v8f32.v8p0"(<8 x float> %".1295", <8 x ptr> %".1322", i32 4, <8 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 1>)
  %"i4.next.1" = add nsw i64 %"i4.1", 2
  br label %"i4.loop.1"
i4.after.1:
  %"i0.next.4" = add nsw i64 %"i0.4", 8
  br label %"i0.loop.4"
}

declare <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %".1", i32 %".2", <8 x i1> %".3", <8 x float> %".4")

declare void @"llvm.masked.scatter.v8f32.v8p0"(<8 x float> %".1", <8 x ptr> %".2", i32 %".3", <8 x i1> %".4")
