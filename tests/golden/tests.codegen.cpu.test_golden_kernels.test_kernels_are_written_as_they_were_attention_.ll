; for cpu: avx2: softmax_2/MultiHeadAttention
;   in0 = q: f32[1, 2, 8]
;   in1 = k: f32[1, 4, 8]
;   in2 = v: f32[1, 4, 8]
;   out0 = y: f32[1, 2, 8]
;   y.scores$0: f32[i0=1, i1=1, i2=2, i3=4] = sum(k0=8) q[0, i2, k0] * k[0, i3, k0]  # `softmax_2/MultiHeadAttention`
;   y.weights$0.max$0: f32[i0=1, i1=1, i2=2, i3=1] = max(k0=4) y.scores$0[0, 0, i2, k0]  # `softmax_2/MultiHeadAttention`
;   y.weights$0.exp$0: f32[i0=1, i1=1, i2=2, i3=4] = exp(y.scores$0[0, 0, i2, i3] - y.weights$0.max$0[0, 0, i2, 0])  # `softmax_2/MultiHeadAttention`
;   y.weights$0.sum$0: f32[i0=1, i1=1, i2=2, i3=1] = sum(k0=4) y.weights$0.exp$0[0, 0, i2, k0]  # `softmax_2/MultiHeadAttention`
;   y.weights$0: f32[i0=1, i1=1, i2=2, i3=4] = y.weights$0.exp$0[0, 0, i2, i3] / y.weights$0.sum$0[0, 0, i2, 0]  # `softmax_2/MultiHeadAttention`
;   y: f32[i0=1, i1=2, i2=8] = sum(k0=4) y.weights$0[0, 0, i1, k0] * v[0, k0, i2] then acc  # `softmax_2/MultiHeadAttention`
; loops      y.scores$0: i0=2 of i2, i1=4 of i3, k0=8 of k0, 1 vectors of 8 summed along k0, 4 of i1 unrolled
; loops      y.weights$0.max$0: i0=2 of i2, k0=4 of k0, 1 vectors of 8 along i0, k0 unrolled
; loops      y.weights$0.exp$0: i0=2 of i2, i1=4 of i3, 1 vectors of 8 along i1
; loops      y.weights$0.sum$0: i0=2 of i2, k0=4 of k0, 1 vectors of 8 along i0, k0 unrolled
; loops      y.weights$0: i0=2 of i2, i1=4 of i3, 1 vectors of 8 along i1
; loops      y: i0=2 of i1, i1=8 of i2, k0=4 of k0, 1 vectors of 8 along i1, 2 of i0 unrolled, k0 unrolled
; schedule   tile 1×2×8
; launch     tiles 1, scratch_bytes 960
; predicted  1.24 µs, 192 B from and to memory
; ModuleID = "com_microsoft_multiheadattention_faa7fba183a4"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"com_microsoft_multiheadattention_faa7fba183a4"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
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
  %"tmp2" = getelementptr i8, ptr %"scratch", i64 640
  %"tmp3" = getelementptr i8, ptr %"scratch", i64 0
  %"tmp4" = getelementptr i8, ptr %"scratch", i64 320
  %"sum" = alloca <8 x float>
  %"sum.1" = alloca <8 x float>
  %"sum.2" = alloca <8 x float>
  %"sum.3" = alloca <8 x float>
  %"max" = alloca <8 x float>
  %"sum.4" = alloca <8 x float>
  %"sum.5" = alloca <8 x float>
  %"sum.6" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i1.after.1"]
  %".17" = icmp slt i64 %"tile", %"end"
  br i1 %".17", label %"tile.body", label %"tile.after"
tile.body:
  %".19" = mul i64 0, -8
  %".20" = add i64 0, %".19"
  %".21" = mul i64 0, -8
  %".22" = add i64 %".20", %".21"
  %".23" = mul i64 0, -4
  %".24" = add i64 %".22", %".23"
  %".25" = mul i64 0, -1
  %".26" = add i64 %".24", %".25"
  %".27" = mul i64 %".26", 4
  %"tmp0.origin" = getelementptr i8, ptr %"tmp0", i64 %".27"
  %".29" = mul i64 0, -2
  %".30" = add i64 0, %".29"
  %".31" = mul i64 0, -2
  %".32" = add i64 %".30", %".31"
  %".33" = mul i64 0, -1
  %".34" = add i64 %".32", %".33"
  %".35" = mul i64 0, -2
  %".36" = add i64 %".34", %".35"
  %".37" = mul i64 %".36", 4
  %"tmp1.origin" = getelementptr i8, ptr %"tmp1", i64 %".37"
  %".39" = mul i64 0, -8
  %".40" = add i64 0, %".39"
  %".41" = mul i64 0, -8
  %".42" = add i64 %".40", %".41"
  %".43" = mul i64 0, -4
  %".44" = add i64 %".42", %".43"
  %".45" = mul i64 0, -1
  %".46" = add i64 %".44", %".45"
  %".47" = mul i64 %".46", 4
  %"tmp2.origin" = getelementptr i8, ptr %"tmp2", i64 %".47"
  %".49" = mul i64 0, -2
  %".50" = add i64 0, %".49"
  %".51" = mul i64 0, -2
  %".52" = add i64 %".50", %".51"
  %".53" = mul i64 0, -1
  %".54" = add i64 %".52", %".53"
  %".55" = mul i64 0, -2
  %".56" = add i64 %".54", %".55"
  %".57" = mul i64 %".56", 4
  %"tmp3.origin" = getelementptr i8, ptr %"tmp3", i64 %".57"
  %".59" = mul i64 0, -8
  %".60" = add i64 0, %".59"
  %".61" = mul i64 0, -8
  %".62" = add i64 %".60", %".61"
  %".63" = mul i64 0, -4
  %".64" = add i64 %".62", %".63"
  %".65" = mul i64 0, -1
  %".66" = add i64 %".64", %".65"
  %".67" = mul i64 %".66", 4
  %"tmp4.origin" = getelementptr i8, ptr %"tmp4", i64 %".67"
  %".69" = add i64 0, 1
  %".70" = add i64 0, 1
  %".71" = add i64 0, 2
  %".72" = add i64 0, 4
  br label %"i0.loop"
tile.after:
  ret void
i0.loop:
  %"i0" = phi  i64 [0, %"tile.body"], [%"i0.next", %"i1.after"]
  %".74" = icmp slt i64 %"i0", %".71"
  br i1 %".74", label %"i0.body", label %"i0.after"
i0.body:
  %".76" = add i64 0, 4
  br label %"i1.loop"
i0.after:
  %".203" = add i64 0, 1
  %".204" = add i64 0, 1
  %".205" = add i64 0, 2
  %".206" = add i64 0, 1
  %".207" = add i64 0, 0
  %".208" = sub i64 %".205", %".207"
  %".209" = trunc i64 %".208" to i32
  %".210" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".209", i32 0
  %".211" = shufflevector <8 x i32> %".210", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".212" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".211"
  store <8 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <8 x float>* %"max"
  %".214" = mul nsw i64 %".207", 4
  %".215" = add nsw i64 0, %".214"
  %".216" = getelementptr float, ptr %"tmp0.origin", i64 %".215"
  %"tmp0.origin.at.4" = getelementptr float, ptr %".216", i64 0
  %".218" = load <32 x float>, ptr %"tmp0.origin.at.4", align 4
  %"tmp0.origin.value" = shufflevector <32 x float> %".218", <32 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %".220" = load <8 x float>, <8 x float>* %"max"
  %".221" = fcmp uno <8 x float> %".220", %".220"
  %".222" = fcmp ogt <8 x float> %".220", %"tmp0.origin.value"
  %".223" = select  <8 x i1> %".222", <8 x float> %".220", <8 x float> %"tmp0.origin.value"
  %"maximum" = select  <8 x i1> %".221", <8 x float> %".220", <8 x float> %".223"
  store <8 x float> %"maximum", <8 x float>* %"max"
  %"tmp0.origin.at.5" = getelementptr float, ptr %".216", i64 1
  %".227" = load <32 x float>, ptr %"tmp0.origin.at.5", align 4
  %"tmp0.origin.value.1" = shufflevector <32 x float> %".227", <32 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %".229" = load <8 x float>, <8 x float>* %"max"
  %".230" = fcmp uno <8 x float> %".229", %".229"
  %".231" = fcmp ogt <8 x float> %".229", %"tmp0.origin.value.1"
  %".232" = select  <8 x i1> %".231", <8 x float> %".229", <8 x float> %"tmp0.origin.value.1"
  %"maximum.1" = select  <8 x i1> %".230", <8 x float> %".229", <8 x float> %".232"
  store <8 x float> %"maximum.1", <8 x float>* %"max"
  %"tmp0.origin.at.6" = getelementptr float, ptr %".216", i64 2
  %".236" = load <32 x float>, ptr %"tmp0.origin.at.6", align 4
  %"tmp0.origin.value.2" = shufflevector <32 x float> %".236", <32 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %".238" = load <8 x float>, <8 x float>* %"max"
  %".239" = fcmp uno <8 x float> %".238", %".238"
  %".240" = fcmp ogt <8 x float> %".238", %"tmp0.origin.value.2"
  %".241" = select  <8 x i1> %".240", <8 x float> %".238", <8 x float> %"tmp0.origin.value.2"
  %"maximum.2" = select  <8 x i1> %".239", <8 x float> %".238", <8 x float> %".241"
  store <8 x float> %"maximum.2", <8 x float>* %"max"
  %"tmp0.origin.at.7" = getelementptr float, ptr %".216", i64 3
  %".245" = load <32 x float>, ptr %"tmp0.origin.at.7", align 4
  %"tmp0.origin.value.3" = shufflevector <32 x float> %".245", <32 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %".247" = load <8 x float>, <8 x float>* %"max"
  %".248" = fcmp uno <8 x float> %".247", %".247"
  %".249" = fcmp ogt <8 x float> %".247", %"tmp0.origin.value.3"
  %".250" = select  <8 x i1> %".249", <8 x float> %".247", <8 x float> %"tmp0.origin.value.3"
  %"maximum.3" = select  <8 x i1> %".248", <8 x float> %".247", <8 x float> %".250"
  store <8 x float> %"maximum.3", <8 x float>* %"max"
  %".253" = load <8 x float>, <8 x float>* %"max"
  %".254" = mul nsw i64 %".207", 1
  %".255" = add nsw i64 0, %".254"
  %".256" = getelementptr float, ptr %"tmp1.origin", i64 %".255"
  %"tmp1.origin.at" = getelementptr float, ptr %".256", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %".253", ptr %"tmp1.origin.at", i32 4, <8 x i1> %".212")
  %".259" = add i64 0, 1
  %".260" = add i64 0, 1
  %".261" = add i64 0, 2
  %".262" = add i64 0, 4
  br label %"i0.loop.1"
i1.loop:
  %"i1" = phi  i64 [0, %"i0.body"], [%"i1.next", %"k0.after"]
  %".78" = icmp slt i64 %"i1", %".76"
  br i1 %".78", label %"i1.body", label %"i1.after"
i1.body:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.1"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.2"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.3"
  %".84" = add i64 0, 8
  br label %"k0.loop"
i1.after:
  %"i0.next" = add nsw i64 %"i0", 1
  br label %"i0.loop"
k0.loop:
  %"k0" = phi  i64 [0, %"i1.body"], [%"k0.next", %"k0.body"]
  %".86" = icmp slt i64 %"k0", %".84"
  br i1 %".86", label %"k0.body", label %"k0.after"
k0.body:
  %".88" = mul nsw i64 %"i0", 8
  %".89" = add nsw i64 0, %".88"
  %".90" = mul nsw i64 %"k0", 1
  %".91" = add nsw i64 %".89", %".90"
  %".92" = getelementptr float, ptr %"in0", i64 %".91"
  %"in0.at" = getelementptr float, ptr %".92", i64 0
  %"in0.value" = load <8 x float>, ptr %"in0.at", align 4
  %".95" = mul nsw i64 %"i1", 8
  %".96" = add nsw i64 0, %".95"
  %".97" = mul nsw i64 %"k0", 1
  %".98" = add nsw i64 %".96", %".97"
  %".99" = getelementptr float, ptr %"in1", i64 %".98"
  %"in1.at" = getelementptr float, ptr %".99", i64 0
  %"in1.value" = load <8 x float>, ptr %"in1.at", align 4
  %"multiply" = fmul contract <8 x float> %"in0.value", %"in1.value"
  %".103" = load <8 x float>, <8 x float>* %"sum"
  %"add" = fadd contract <8 x float> %".103", %"multiply"
  store <8 x float> %"add", <8 x float>* %"sum"
  %"in1.at.1" = getelementptr float, ptr %".99", i64 8
  %"in1.value.1" = load <8 x float>, ptr %"in1.at.1", align 4
  %"multiply.1" = fmul contract <8 x float> %"in0.value", %"in1.value.1"
  %".109" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.1" = fadd contract <8 x float> %".109", %"multiply.1"
  store <8 x float> %"add.1", <8 x float>* %"sum.1"
  %"in1.at.2" = getelementptr float, ptr %".99", i64 16
  %"in1.value.2" = load <8 x float>, ptr %"in1.at.2", align 4
  %"multiply.2" = fmul contract <8 x float> %"in0.value", %"in1.value.2"
  %".115" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.2" = fadd contract <8 x float> %".115", %"multiply.2"
  store <8 x float> %"add.2", <8 x float>* %"sum.2"
  %"in1.at.3" = getelementptr float, ptr %".99", i64 24
  %"in1.value.3" = load <8 x float>, ptr %"in1.at.3", align 4
  %"multiply.3" = fmul contract <8 x float> %"in0.value", %"in1.value.3"
  %".121" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.3" = fadd contract <8 x float> %".121", %"multiply.3"
  store <8 x float> %"add.3", <8 x float>* %"sum.3"
  %"k0.next" = add nsw i64 %"k0", 8
  br label %"k0.loop"
k0.after:
  %".125" = load <8 x float>, <8 x float>* %"sum"
  %".126" = shufflevector <8 x float> %".125", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".127" = shufflevector <8 x float> %".125", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %"add.4" = fadd contract <4 x float> %".126", %".127"
  %".129" = shufflevector <4 x float> %"add.4", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".130" = shufflevector <4 x float> %"add.4", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %"add.5" = fadd contract <2 x float> %".129", %".130"
  %".132" = shufflevector <2 x float> %"add.5", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".133" = shufflevector <2 x float> %"add.5", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".134" = extractelement <1 x float> %".132", i32 0
  %".135" = extractelement <1 x float> %".133", i32 0
  %"add.6" = fadd contract float %".134", %".135"
  %".137" = load <8 x float>, <8 x float>* %"sum.1"
  %".138" = shufflevector <8 x float> %".137", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".139" = shufflevector <8 x float> %".137", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %"add.7" = fadd contract <4 x float> %".138", %".139"
  %".141" = shufflevector <4 x float> %"add.7", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".142" = shufflevector <4 x float> %"add.7", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %"add.8" = fadd contract <2 x float> %".141", %".142"
  %".144" = shufflevector <2 x float> %"add.8", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".145" = shufflevector <2 x float> %"add.8", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".146" = extractelement <1 x float> %".144", i32 0
  %".147" = extractelement <1 x float> %".145", i32 0
  %"add.9" = fadd contract float %".146", %".147"
  %".149" = load <8 x float>, <8 x float>* %"sum.2"
  %".150" = shufflevector <8 x float> %".149", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".151" = shufflevector <8 x float> %".149", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %"add.10" = fadd contract <4 x float> %".150", %".151"
  %".153" = shufflevector <4 x float> %"add.10", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".154" = shufflevector <4 x float> %"add.10", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %"add.11" = fadd contract <2 x float> %".153", %".154"
  %".156" = shufflevector <2 x float> %"add.11", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".157" = shufflevector <2 x float> %"add.11", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".158" = extractelement <1 x float> %".156", i32 0
  %".159" = extractelement <1 x float> %".157", i32 0
  %"add.12" = fadd contract float %".158", %".159"
  %".161" = load <8 x float>, <8 x float>* %"sum.3"
  %".162" = shufflevector <8 x float> %".161", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".163" = shufflevector <8 x float> %".161", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %"add.13" = fadd contract <4 x float> %".162", %".163"
  %".165" = shufflevector <4 x float> %"add.13", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".166" = shufflevector <4 x float> %"add.13", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %"add.14" = fadd contract <2 x float> %".165", %".166"
  %".168" = shufflevector <2 x float> %"add.14", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".169" = shufflevector <2 x float> %"add.14", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".170" = extractelement <1 x float> %".168", i32 0
  %".171" = extractelement <1 x float> %".169", i32 0
  %"add.15" = fadd contract float %".170", %".171"
  %".173" = mul nsw i64 %"i0", 4
  %".174" = add nsw i64 0, %".173"
  %".175" = mul nsw i64 %"i1", 1
  %".176" = add nsw i64 %".174", %".175"
  %".177" = getelementptr float, ptr %"tmp0.origin", i64 %".176"
  %"tmp0.origin.at" = getelementptr float, ptr %".177", i64 0
  store float %"add.6", ptr %"tmp0.origin.at", align 4
  %".180" = mul nsw i64 %"i0", 4
  %".181" = add nsw i64 0, %".180"
  %".182" = mul nsw i64 %"i1", 1
  %".183" = add nsw i64 %".181", %".182"
  %".184" = getelementptr float, ptr %"tmp0.origin", i64 %".183"
  %"tmp0.origin.at.1" = getelementptr float, ptr %".184", i64 1
  store float %"add.9", ptr %"tmp0.origin.at.1", align 4
  %".187" = mul nsw i64 %"i0", 4
  %".188" = add nsw i64 0, %".187"
  %".189" = mul nsw i64 %"i1", 1
  %".190" = add nsw i64 %".188", %".189"
  %".191" = getelementptr float, ptr %"tmp0.origin", i64 %".190"
  %"tmp0.origin.at.2" = getelementptr float, ptr %".191", i64 2
  store float %"add.12", ptr %"tmp0.origin.at.2", align 4
  %".194" = mul nsw i64 %"i0", 4
  %".195" = add nsw i64 0, %".194"
  %".196" = mul nsw i64 %"i1", 1
  %".197" = add nsw i64 %".195", %".196"
  %".198" = getelementptr float, ptr %"tmp0.origin", i64 %".197"
  %"tmp0.origin.at.3" = getelementptr float, ptr %".198", i64 3
  store float %"add.15", ptr %"tmp0.origin.at.3", align 4
  %"i1.next" = add nsw i64 %"i1", 4
  br label %"i1.loop"
i0.loop.1:
  %"i0.1" = phi  i64 [0, %"i0.after"], [%"i0.next.1", %"i0.body.1"]
  %".264" = icmp slt i64 %"i0.1", %".261"
  br i1 %".264", label %"i0.body.1", label %"i0.after.1"
i0.body.1:
  %".266" = add i64 0, 0
  %".267" = sub i64 %".262", %".266"
  %".268" = trunc i64 %".267" to i32
  %".269" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".268", i32 0
  %".270" = shufflevector <8 x i32> %".269", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".271" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".270"
  %".272" = mul nsw i64 %"i0.1", 4
  %".273" = add nsw i64 0, %".272"
  %".274" = mul nsw i64 %".266", 1
  %".275" = add nsw i64 %".273", %".274"
  %".276" = getelementptr float, ptr %"tmp0.origin", i64 %".275"
  %"tmp0.origin.at.8" = getelementptr float, ptr %".276", i64 0
  %"tmp0.origin.value.4" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"tmp0.origin.at.8", i32 4, <8 x i1> %".271", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".279" = mul nsw i64 %"i0.1", 1
  %".280" = add nsw i64 0, %".279"
  %".281" = getelementptr float, ptr %"tmp1.origin", i64 %".280"
  %"tmp1.origin.at.1" = getelementptr float, ptr %".281", i64 0
  %".283" = load float, ptr %"tmp1.origin.at.1", align 4
  %".284" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".283", i32 0
  %"tmp1.origin.value" = shufflevector <8 x float> %".284", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"subtract" = fsub contract <8 x float> %"tmp0.origin.value.4", %"tmp1.origin.value"
  %"exp" = call <8 x float> @"burnish.exp.f32.8"(<8 x float> %"subtract")
  %".288" = mul nsw i64 %"i0.1", 4
  %".289" = add nsw i64 0, %".288"
  %".290" = mul nsw i64 %".266", 1
  %".291" = add nsw i64 %".289", %".290"
  %".292" = getelementptr float, ptr %"tmp2.origin", i64 %".291"
  %"tmp2.origin.at" = getelementptr float, ptr %".292", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %"exp", ptr %"tmp2.origin.at", i32 4, <8 x i1> %".271")
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  br label %"i0.loop.1"
i0.after.1:
  %".296" = add i64 0, 1
  %".297" = add i64 0, 1
  %".298" = add i64 0, 2
  %".299" = add i64 0, 1
  %".300" = add i64 0, 0
  %".301" = sub i64 %".298", %".300"
  %".302" = trunc i64 %".301" to i32
  %".303" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".302", i32 0
  %".304" = shufflevector <8 x i32> %".303", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".305" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".304"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.4"
  %".307" = mul nsw i64 %".300", 4
  %".308" = add nsw i64 0, %".307"
  %".309" = getelementptr float, ptr %"tmp2.origin", i64 %".308"
  %"tmp2.origin.at.1" = getelementptr float, ptr %".309", i64 0
  %".311" = load <32 x float>, ptr %"tmp2.origin.at.1", align 4
  %"tmp2.origin.value" = shufflevector <32 x float> %".311", <32 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %".313" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.16" = fadd contract <8 x float> %".313", %"tmp2.origin.value"
  store <8 x float> %"add.16", <8 x float>* %"sum.4"
  %"tmp2.origin.at.2" = getelementptr float, ptr %".309", i64 1
  %".317" = load <32 x float>, ptr %"tmp2.origin.at.2", align 4
  %"tmp2.origin.value.1" = shufflevector <32 x float> %".317", <32 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %".319" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.17" = fadd contract <8 x float> %".319", %"tmp2.origin.value.1"
  store <8 x float> %"add.17", <8 x float>* %"sum.4"
  %"tmp2.origin.at.3" = getelementptr float, ptr %".309", i64 2
  %".323" = load <32 x float>, ptr %"tmp2.origin.at.3", align 4
  %"tmp2.origin.value.2" = shufflevector <32 x float> %".323", <32 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %".325" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.18" = fadd contract <8 x float> %".325", %"tmp2.origin.value.2"
  store <8 x float> %"add.18", <8 x float>* %"sum.4"
  %"tmp2.origin.at.4" = getelementptr float, ptr %".309", i64 3
  %".329" = load <32 x float>, ptr %"tmp2.origin.at.4", align 4
  %"tmp2.origin.value.3" = shufflevector <32 x float> %".329", <32 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %".331" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.19" = fadd contract <8 x float> %".331", %"tmp2.origin.value.3"
  store <8 x float> %"add.19", <8 x float>* %"sum.4"
  %".334" = load <8 x float>, <8 x float>* %"sum.4"
  %".335" = mul nsw i64 %".300", 1
  %".336" = add nsw i64 0, %".335"
  %".337" = getelementptr float, ptr %"tmp3.origin", i64 %".336"
  %"tmp3.origin.at" = getelementptr float, ptr %".337", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %".334", ptr %"tmp3.origin.at", i32 4, <8 x i1> %".305")
  %".340" = add i64 0, 1
  %".341" = add i64 0, 1
  %".342" = add i64 0, 2
  %".343" = add i64 0, 4
  br label %"i0.loop.2"
i0.loop.2:
  %"i0.2" = phi  i64 [0, %"i0.after.1"], [%"i0.next.2", %"i0.body.2"]
  %".345" = icmp slt i64 %"i0.2", %".342"
  br i1 %".345", label %"i0.body.2", label %"i0.after.2"
i0.body.2:
  %".347" = add i64 0, 0
  %".348" = sub i64 %".343", %".347"
  %".349" = trunc i64 %".348" to i32
  %".350" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".349", i32 0
  %".351" = shufflevector <8 x i32> %".350", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".352" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".351"
  %".353" = mul nsw i64 %"i0.2", 4
  %".354" = add nsw i64 0, %".353"
  %".355" = mul nsw i64 %".347", 1
  %".356" = add nsw i64 %".354", %".355"
  %".357" = getelementptr float, ptr %"tmp2.origin", i64 %".356"
  %"tmp2.origin.at.5" = getelementptr float, ptr %".357", i64 0
  %"tmp2.origin.value.4" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"tmp2.origin.at.5", i32 4, <8 x i1> %".352", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".360" = mul nsw i64 %"i0.2", 1
  %".361" = add nsw i64 0, %".360"
  %".362" = getelementptr float, ptr %"tmp3.origin", i64 %".361"
  %"tmp3.origin.at.1" = getelementptr float, ptr %".362", i64 0
  %".364" = load float, ptr %"tmp3.origin.at.1", align 4
  %".365" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".364", i32 0
  %"tmp3.origin.value" = shufflevector <8 x float> %".365", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"reciprocal" = fdiv <8 x float> splat (float 0x3ff0000000000000), %"tmp3.origin.value"
  %"multiply.4" = fmul contract <8 x float> %"tmp2.origin.value.4", %"reciprocal"
  %".369" = mul nsw i64 %"i0.2", 4
  %".370" = add nsw i64 0, %".369"
  %".371" = mul nsw i64 %".347", 1
  %".372" = add nsw i64 %".370", %".371"
  %".373" = getelementptr float, ptr %"tmp4.origin", i64 %".372"
  %"tmp4.origin.at" = getelementptr float, ptr %".373", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %"multiply.4", ptr %"tmp4.origin.at", i32 4, <8 x i1> %".352")
  %"i0.next.2" = add nsw i64 %"i0.2", 1
  br label %"i0.loop.2"
i0.after.2:
  %".377" = add i64 0, 1
  %".378" = add i64 0, 2
  %".379" = add i64 0, 8
  %".380" = add i64 0, 8
  br label %"i1.loop.1"
i1.loop.1:
  %"i1.1" = phi  i64 [0, %"i0.after.2"], [%"i1.next.1", %"i0.after.3"]
  %".382" = icmp slt i64 %"i1.1", %".380"
  br i1 %".382", label %"i1.body.1", label %"i1.after.1"
i1.body.1:
  %".384" = add i64 0, 2
  br label %"i0.loop.3"
i1.after.1:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i0.loop.3:
  %"i0.3" = phi  i64 [0, %"i1.body.1"], [%"i0.next.3", %"i0.body.3"]
  %".386" = icmp slt i64 %"i0.3", %".384"
  br i1 %".386", label %"i0.body.3", label %"i0.after.3"
i0.body.3:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.5"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.6"
  %".390" = mul nsw i64 %"i0.3", 4
  %".391" = add nsw i64 0, %".390"
  %".392" = getelementptr float, ptr %"tmp4.origin", i64 %".391"
  %"tmp4.origin.at.1" = getelementptr float, ptr %".392", i64 0
  %".394" = load float, ptr %"tmp4.origin.at.1", align 4
  %".395" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".394", i32 0
  %"tmp4.origin.value" = shufflevector <8 x float> %".395", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".397" = mul nsw i64 %"i1.1", 1
  %".398" = add nsw i64 0, %".397"
  %".399" = getelementptr float, ptr %"in2", i64 %".398"
  %"in2.at" = getelementptr float, ptr %".399", i64 0
  %"in2.value" = load <8 x float>, ptr %"in2.at", align 4
  %"multiply.5" = fmul contract <8 x float> %"tmp4.origin.value", %"in2.value"
  %".403" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.20" = fadd contract <8 x float> %".403", %"multiply.5"
  store <8 x float> %"add.20", <8 x float>* %"sum.5"
  %"tmp4.origin.at.2" = getelementptr float, ptr %".392", i64 4
  %".407" = load float, ptr %"tmp4.origin.at.2", align 4
  %".408" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".407", i32 0
  %"tmp4.origin.value.1" = shufflevector <8 x float> %".408", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.6" = fmul contract <8 x float> %"tmp4.origin.value.1", %"in2.value"
  %".411" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.21" = fadd contract <8 x float> %".411", %"multiply.6"
  store <8 x float> %"add.21", <8 x float>* %"sum.6"
  %"tmp4.origin.at.3" = getelementptr float, ptr %".392", i64 1
  %".415" = load float, ptr %"tmp4.origin.at.3", align 4
  %".416" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".415", i32 0
  %"tmp4.origin.value.2" = shufflevector <8 x float> %".416", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.1" = getelementptr float, ptr %".399", i64 8
  %"in2.value.1" = load <8 x float>, ptr %"in2.at.1", align 4
  %"multiply.7" = fmul contract <8 x float> %"tmp4.origin.value.2", %"in2.value.1"
  %".421" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.22" = fadd contract <8 x float> %".421", %"multiply.7"
  store <8 x float> %"add.22", <8 x float>* %"sum.5"
  %"tmp4.origin.at.4" = getelementptr float, ptr %".392", i64 5
  %".425" = load float, ptr %"tmp4.origin.at.4", align 4
  %".426" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".425", i32 0
  %"tmp4.origin.value.3" = shufflevector <8 x float> %".426", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.8" = fmul contract <8 x float> %"tmp4.origin.value.3", %"in2.value.1"
  %".429" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.23" = fadd contract <8 x float> %".429", %"multiply.8"
  store <8 x float> %"add.23", <8 x float>* %"sum.6"
  %"tmp4.origin.at.5" = getelementptr float, ptr %".392", i64 2
  %".433" = load float, ptr %"tmp4.origin.at.5", align 4
  %".434" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".433", i32 0
  %"tmp4.origin.value.4" = shufflevector <8 x float> %".434", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.2" = getelementptr float, ptr %".399", i64 16
  %"in2.value.2" = load <8 x float>, ptr %"in2.at.2", align 4
  %"multiply.9" = fmul contract <8 x float> %"tmp4.origin.value.4", %"in2.value.2"
  %".439" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.24" = fadd contract <8 x float> %".439", %"multiply.9"
  store <8 x float> %"add.24", <8 x float>* %"sum.5"
  %"tmp4.origin.at.6" = getelementptr float, ptr %".392", i64 6
  %".443" = load float, ptr %"tmp4.origin.at.6", align 4
  %".444" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".443", i32 0
  %"tmp4.origin.value.5" = shufflevector <8 x float> %".444", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.10" = fmul contract <8 x float> %"tmp4.origin.value.5", %"in2.value.2"
  %".447" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.25" = fadd contract <8 x float> %".447", %"multiply.10"
  store <8 x float> %"add.25", <8 x float>* %"sum.6"
  %"tmp4.origin.at.7" = getelementptr float, ptr %".392", i64 3
  %".451" = load float, ptr %"tmp4.origin.at.7", align 4
  %".452" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".451", i32 0
  %"tmp4.origin.value.6" = shufflevector <8 x float> %".452", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.3" = getelementptr float, ptr %".399", i64 24
  %"in2.value.3" = load <8 x float>, ptr %"in2.at.3", align 4
  %"multiply.11" = fmul contract <8 x float> %"tmp4.origin.value.6", %"in2.value.3"
  %".457" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.26" = fadd contract <8 x float> %".457", %"multiply.11"
  store <8 x float> %"add.26", <8 x float>* %"sum.5"
  %"tmp4.origin.at.8" = getelementptr float, ptr %".392", i64 7
  %".461" = load float, ptr %"tmp4.origin.at.8", align 4
  %".462" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".461", i32 0
  %"tmp4.origin.value.7" = shufflevector <8 x float> %".462", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.12" = fmul contract <8 x float> %"tmp4.origin.value.7", %"in2.value.3"
  %".465" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.27" = fadd contract <8 x float> %".465", %"multiply.12"
  store <8 x float> %"add.27", <8 x float>* %"sum.6"
  %".468" = load <8 x float>, <8 x float>* %"sum.5"
  %".469" = load <8 x float>, <8 x float>* %"sum.6"
  %".470" = mul nsw i64 %"i0.3", 8
  %".471" = add nsw i64 0, %".470"
  %".472" = mul nsw i64 %"i1.1", 1
  %".473" = add nsw i64 %".471", %".472"
  %".474" = getelementptr float, ptr %"out0", i64 %".473"
  %"out0.at" = getelementptr float, ptr %".474", i64 0
  store <8 x float> %".468", ptr %"out0.at", align 4
  %".477" = mul nsw i64 %"i0.3", 8
  %".478" = add nsw i64 0, %".477"
  %".479" = mul nsw i64 %"i1.1", 1
  %".480" = add nsw i64 %".478", %".479"
  %".481" = getelementptr float, ptr %"out0", i64 %".480"
  %"out0.at.1" = getelementptr float, ptr %".481", i64 8
  store <8 x float> %".469", ptr %"out0.at.1", align 4
  %"i0.next.3" = add nsw i64 %"i0.3", 2
  br label %"i0.loop.3"
i0.after.3:
  %"i1.next.1" = add nsw i64 %"i1.1", 8
  br label %"i1.loop.1"
}

declare void @"llvm.masked.store.v8f32.p0"(<8 x float> %".1", ptr %".2", i32 %".3", <8 x i1> %".4")

declare <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %".1", i32 %".2", <8 x i1> %".3", <8 x float> %".4")

declare <8 x float> @"burnish.exp.f32.8"(<8 x float> %".1")
