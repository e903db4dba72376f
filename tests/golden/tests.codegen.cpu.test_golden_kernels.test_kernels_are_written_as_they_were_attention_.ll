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
; predicted  1.24 µs, 0 B from and to memory
; ModuleID = "com_microsoft_multiheadattention_800d90b5125e"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"com_microsoft_multiheadattention_800d90b5125e"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
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
  %".218" = add i64 %".207", 0
  %".219" = mul i64 %".218", 4
  %".220" = add i64 0, %".219"
  %".221" = mul i64 0, 1
  %".222" = add i64 %".220", %".221"
  %".223" = getelementptr float, ptr %"tmp0.origin", i64 %".222"
  %".224" = getelementptr float, ptr %".223", <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %"tmp0.origin.value" = call <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".224", i32 4, <8 x i1> %".212", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".226" = load <8 x float>, <8 x float>* %"max"
  %".227" = fcmp uno <8 x float> %".226", %".226"
  %".228" = fcmp ogt <8 x float> %".226", %"tmp0.origin.value"
  %".229" = select  <8 x i1> %".228", <8 x float> %".226", <8 x float> %"tmp0.origin.value"
  %"maximum" = select  <8 x i1> %".227", <8 x float> %".226", <8 x float> %".229"
  store <8 x float> %"maximum", <8 x float>* %"max"
  %"tmp0.origin.at.5" = getelementptr float, ptr %".216", i64 1
  %".233" = add i64 %".207", 0
  %".234" = mul i64 %".233", 4
  %".235" = add i64 0, %".234"
  %".236" = mul i64 1, 1
  %".237" = add i64 %".235", %".236"
  %".238" = getelementptr float, ptr %"tmp0.origin", i64 %".237"
  %".239" = getelementptr float, ptr %".238", <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %"tmp0.origin.value.1" = call <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".239", i32 4, <8 x i1> %".212", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".241" = load <8 x float>, <8 x float>* %"max"
  %".242" = fcmp uno <8 x float> %".241", %".241"
  %".243" = fcmp ogt <8 x float> %".241", %"tmp0.origin.value.1"
  %".244" = select  <8 x i1> %".243", <8 x float> %".241", <8 x float> %"tmp0.origin.value.1"
  %"maximum.1" = select  <8 x i1> %".242", <8 x float> %".241", <8 x float> %".244"
  store <8 x float> %"maximum.1", <8 x float>* %"max"
  %"tmp0.origin.at.6" = getelementptr float, ptr %".216", i64 2
  %".248" = add i64 %".207", 0
  %".249" = mul i64 %".248", 4
  %".250" = add i64 0, %".249"
  %".251" = mul i64 2, 1
  %".252" = add i64 %".250", %".251"
  %".253" = getelementptr float, ptr %"tmp0.origin", i64 %".252"
  %".254" = getelementptr float, ptr %".253", <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %"tmp0.origin.value.2" = call <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".254", i32 4, <8 x i1> %".212", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".256" = load <8 x float>, <8 x float>* %"max"
  %".257" = fcmp uno <8 x float> %".256", %".256"
  %".258" = fcmp ogt <8 x float> %".256", %"tmp0.origin.value.2"
  %".259" = select  <8 x i1> %".258", <8 x float> %".256", <8 x float> %"tmp0.origin.value.2"
  %"maximum.2" = select  <8 x i1> %".257", <8 x float> %".256", <8 x float> %".259"
  store <8 x float> %"maximum.2", <8 x float>* %"max"
  %"tmp0.origin.at.7" = getelementptr float, ptr %".216", i64 3
  %".263" = add i64 %".207", 0
  %".264" = mul i64 %".263", 4
  %".265" = add i64 0, %".264"
  %".266" = mul i64 3, 1
  %".267" = add i64 %".265", %".266"
  %".268" = getelementptr float, ptr %"tmp0.origin", i64 %".267"
  %".269" = getelementptr float, ptr %".268", <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %"tmp0.origin.value.3" = call <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".269", i32 4, <8 x i1> %".212", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".271" = load <8 x float>, <8 x float>* %"max"
  %".272" = fcmp uno <8 x float> %".271", %".271"
  %".273" = fcmp ogt <8 x float> %".271", %"tmp0.origin.value.3"
  %".274" = select  <8 x i1> %".273", <8 x float> %".271", <8 x float> %"tmp0.origin.value.3"
  %"maximum.3" = select  <8 x i1> %".272", <8 x float> %".271", <8 x float> %".274"
  store <8 x float> %"maximum.3", <8 x float>* %"max"
  %".277" = load <8 x float>, <8 x float>* %"max"
  %".278" = mul nsw i64 %".207", 1
  %".279" = add nsw i64 0, %".278"
  %".280" = getelementptr float, ptr %"tmp1.origin", i64 %".279"
  %"tmp1.origin.at" = getelementptr float, ptr %".280", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %".277", ptr %"tmp1.origin.at", i32 4, <8 x i1> %".212")
  %".283" = add i64 0, 1
  %".284" = add i64 0, 1
  %".285" = add i64 0, 2
  %".286" = add i64 0, 4
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
  %".288" = icmp slt i64 %"i0.1", %".285"
  br i1 %".288", label %"i0.body.1", label %"i0.after.1"
i0.body.1:
  %".290" = add i64 0, 0
  %".291" = sub i64 %".286", %".290"
  %".292" = trunc i64 %".291" to i32
  %".293" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".292", i32 0
  %".294" = shufflevector <8 x i32> %".293", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".295" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".294"
  %".296" = mul nsw i64 %"i0.1", 4
  %".297" = add nsw i64 0, %".296"
  %".298" = mul nsw i64 %".290", 1
  %".299" = add nsw i64 %".297", %".298"
  %".300" = getelementptr float, ptr %"tmp0.origin", i64 %".299"
  %"tmp0.origin.at.8" = getelementptr float, ptr %".300", i64 0
  %"tmp0.origin.value.4" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"tmp0.origin.at.8", i32 4, <8 x i1> %".295", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".303" = mul nsw i64 %"i0.1", 1
  %".304" = add nsw i64 0, %".303"
  %".305" = getelementptr float, ptr %"tmp1.origin", i64 %".304"
  %"tmp1.origin.at.1" = getelementptr float, ptr %".305", i64 0
  %".307" = load float, ptr %"tmp1.origin.at.1", align 4
  %".308" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".307", i32 0
  %"tmp1.origin.value" = shufflevector <8 x float> %".308", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"subtract" = fsub contract <8 x float> %"tmp0.origin.value.4", %"tmp1.origin.value"
  %"exp" = call <8 x float> @"burnish.exp.f32.8"(<8 x float> %"subtract")
  %".312" = mul nsw i64 %"i0.1", 4
  %".313" = add nsw i64 0, %".312"
  %".314" = mul nsw i64 %".290", 1
  %".315" = add nsw i64 %".313", %".314"
  %".316" = getelementptr float, ptr %"tmp2.origin", i64 %".315"
  %"tmp2.origin.at" = getelementptr float, ptr %".316", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %"exp", ptr %"tmp2.origin.at", i32 4, <8 x i1> %".295")
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  br label %"i0.loop.1"
i0.after.1:
  %".320" = add i64 0, 1
  %".321" = add i64 0, 1
  %".322" = add i64 0, 2
  %".323" = add i64 0, 1
  %".324" = add i64 0, 0
  %".325" = sub i64 %".322", %".324"
  %".326" = trunc i64 %".325" to i32
  %".327" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".326", i32 0
  %".328" = shufflevector <8 x i32> %".327", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".329" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".328"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.4"
  %".331" = mul nsw i64 %".324", 4
  %".332" = add nsw i64 0, %".331"
  %".333" = getelementptr float, ptr %"tmp2.origin", i64 %".332"
  %"tmp2.origin.at.1" = getelementptr float, ptr %".333", i64 0
  %".335" = add i64 %".324", 0
  %".336" = mul i64 %".335", 4
  %".337" = add i64 0, %".336"
  %".338" = mul i64 0, 1
  %".339" = add i64 %".337", %".338"
  %".340" = getelementptr float, ptr %"tmp2.origin", i64 %".339"
  %".341" = getelementptr float, ptr %".340", <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %"tmp2.origin.value" = call <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".341", i32 4, <8 x i1> %".329", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".343" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.16" = fadd contract <8 x float> %".343", %"tmp2.origin.value"
  store <8 x float> %"add.16", <8 x float>* %"sum.4"
  %"tmp2.origin.at.2" = getelementptr float, ptr %".333", i64 1
  %".347" = add i64 %".324", 0
  %".348" = mul i64 %".347", 4
  %".349" = add i64 0, %".348"
  %".350" = mul i64 1, 1
  %".351" = add i64 %".349", %".350"
  %".352" = getelementptr float, ptr %"tmp2.origin", i64 %".351"
  %".353" = getelementptr float, ptr %".352", <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %"tmp2.origin.value.1" = call <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".353", i32 4, <8 x i1> %".329", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".355" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.17" = fadd contract <8 x float> %".355", %"tmp2.origin.value.1"
  store <8 x float> %"add.17", <8 x float>* %"sum.4"
  %"tmp2.origin.at.3" = getelementptr float, ptr %".333", i64 2
  %".359" = add i64 %".324", 0
  %".360" = mul i64 %".359", 4
  %".361" = add i64 0, %".360"
  %".362" = mul i64 2, 1
  %".363" = add i64 %".361", %".362"
  %".364" = getelementptr float, ptr %"tmp2.origin", i64 %".363"
  %".365" = getelementptr float, ptr %".364", <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %"tmp2.origin.value.2" = call <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".365", i32 4, <8 x i1> %".329", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".367" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.18" = fadd contract <8 x float> %".367", %"tmp2.origin.value.2"
  store <8 x float> %"add.18", <8 x float>* %"sum.4"
  %"tmp2.origin.at.4" = getelementptr float, ptr %".333", i64 3
  %".371" = add i64 %".324", 0
  %".372" = mul i64 %".371", 4
  %".373" = add i64 0, %".372"
  %".374" = mul i64 3, 1
  %".375" = add i64 %".373", %".374"
  %".376" = getelementptr float, ptr %"tmp2.origin", i64 %".375"
  %".377" = getelementptr float, ptr %".376", <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  %"tmp2.origin.value.3" = call <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".377", i32 4, <8 x i1> %".329", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".379" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.19" = fadd contract <8 x float> %".379", %"tmp2.origin.value.3"
  store <8 x float> %"add.19", <8 x float>* %"sum.4"
  %".382" = load <8 x float>, <8 x float>* %"sum.4"
  %".383" = mul nsw i64 %".324", 1
  %".384" = add nsw i64 0, %".383"
  %".385" = getelementptr float, ptr %"tmp3.origin", i64 %".384"
  %"tmp3.origin.at" = getelementptr float, ptr %".385", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %".382", ptr %"tmp3.origin.at", i32 4, <8 x i1> %".329")
  %".388" = add i64 0, 1
  %".389" = add i64 0, 1
  %".390" = add i64 0, 2
  %".391" = add i64 0, 4
  br label %"i0.loop.2"
i0.loop.2:
  %"i0.2" = phi  i64 [0, %"i0.after.1"], [%"i0.next.2", %"i0.body.2"]
  %".393" = icmp slt i64 %"i0.2", %".390"
  br i1 %".393", label %"i0.body.2", label %"i0.after.2"
i0.body.2:
  %".395" = add i64 0, 0
  %".396" = sub i64 %".391", %".395"
  %".397" = trunc i64 %".396" to i32
  %".398" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".397", i32 0
  %".399" = shufflevector <8 x i32> %".398", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".400" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".399"
  %".401" = mul nsw i64 %"i0.2", 4
  %".402" = add nsw i64 0, %".401"
  %".403" = mul nsw i64 %".395", 1
  %".404" = add nsw i64 %".402", %".403"
  %".405" = getelementptr float, ptr %"tmp2.origin", i64 %".404"
  %"tmp2.origin.at.5" = getelementptr float, ptr %".405", i64 0
  %"tmp2.origin.value.4" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"tmp2.origin.at.5", i32 4, <8 x i1> %".400", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".408" = mul nsw i64 %"i0.2", 1
  %".409" = add nsw i64 0, %".408"
  %".410" = getelementptr float, ptr %"tmp3.origin", i64 %".409"
  %"tmp3.origin.at.1" = getelementptr float, ptr %".410", i64 0
  %".412" = load float, ptr %"tmp3.origin.at.1", align 4
  %".413" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".412", i32 0
  %"tmp3.origin.value" = shufflevector <8 x float> %".413", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"divide" = fdiv <8 x float> %"tmp2.origin.value.4", %"tmp3.origin.value"
  %".416" = mul nsw i64 %"i0.2", 4
  %".417" = add nsw i64 0, %".416"
  %".418" = mul nsw i64 %".395", 1
  %".419" = add nsw i64 %".417", %".418"
  %".420" = getelementptr float, ptr %"tmp4.origin", i64 %".419"
  %"tmp4.origin.at" = getelementptr float, ptr %".420", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %"divide", ptr %"tmp4.origin.at", i32 4, <8 x i1> %".400")
  %"i0.next.2" = add nsw i64 %"i0.2", 1
  br label %"i0.loop.2"
i0.after.2:
  %".424" = add i64 0, 1
  %".425" = add i64 0, 2
  %".426" = add i64 0, 8
  %".427" = add i64 0, 8
  br label %"i1.loop.1"
i1.loop.1:
  %"i1.1" = phi  i64 [0, %"i0.after.2"], [%"i1.next.1", %"i0.after.3"]
  %".429" = icmp slt i64 %"i1.1", %".427"
  br i1 %".429", label %"i1.body.1", label %"i1.after.1"
i1.body.1:
  %".431" = add i64 0, 2
  br label %"i0.loop.3"
i1.after.1:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i0.loop.3:
  %"i0.3" = phi  i64 [0, %"i1.body.1"], [%"i0.next.3", %"i0.body.3"]
  %".433" = icmp slt i64 %"i0.3", %".431"
  br i1 %".433", label %"i0.body.3", label %"i0.after.3"
i0.body.3:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.5"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.6"
  %".437" = mul nsw i64 %"i0.3", 4
  %".438" = add nsw i64 0, %".437"
  %".439" = getelementptr float, ptr %"tmp4.origin", i64 %".438"
  %"tmp4.origin.at.1" = getelementptr float, ptr %".439", i64 0
  %".441" = load float, ptr %"tmp4.origin.at.1", align 4
  %".442" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".441", i32 0
  %"tmp4.origin.value" = shufflevector <8 x float> %".442", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".444" = mul nsw i64 %"i1.1", 1
  %".445" = add nsw i64 0, %".444"
  %".446" = getelementptr float, ptr %"in2", i64 %".445"
  %"in2.at" = getelementptr float, ptr %".446", i64 0
  %"in2.value" = load <8 x float>, ptr %"in2.at", align 4
  %"multiply.4" = fmul contract <8 x float> %"tmp4.origin.value", %"in2.value"
  %".450" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.20" = fadd contract <8 x float> %".450", %"multiply.4"
  store <8 x float> %"add.20", <8 x float>* %"sum.5"
  %"tmp4.origin.at.2" = getelementptr float, ptr %".439", i64 4
  %".454" = load float, ptr %"tmp4.origin.at.2", align 4
  %".455" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".454", i32 0
  %"tmp4.origin.value.1" = shufflevector <8 x float> %".455", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.5" = fmul contract <8 x float> %"tmp4.origin.value.1", %"in2.value"
  %".458" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.21" = fadd contract <8 x float> %".458", %"multiply.5"
  store <8 x float> %"add.21", <8 x float>* %"sum.6"
  %"tmp4.origin.at.3" = getelementptr float, ptr %".439", i64 1
  %".462" = load float, ptr %"tmp4.origin.at.3", align 4
  %".463" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".462", i32 0
  %"tmp4.origin.value.2" = shufflevector <8 x float> %".463", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.1" = getelementptr float, ptr %".446", i64 8
  %"in2.value.1" = load <8 x float>, ptr %"in2.at.1", align 4
  %"multiply.6" = fmul contract <8 x float> %"tmp4.origin.value.2", %"in2.value.1"
  %".468" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.22" = fadd contract <8 x float> %".468", %"multiply.6"
  store <8 x float> %"add.22", <8 x float>* %"sum.5"
  %"tmp4.origin.at.4" = getelementptr float, ptr %".439", i64 5
  %".472" = load float, ptr %"tmp4.origin.at.4", align 4
  %".473" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".472", i32 0
  %"tmp4.origin.value.3" = shufflevector <8 x float> %".473", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.7" = fmul contract <8 x float> %"tmp4.origin.value.3", %"in2.value.1"
  %".476" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.23" = fadd contract <8 x float> %".476", %"multiply.7"
  store <8 x float> %"add.23", <8 x float>* %"sum.6"
  %"tmp4.origin.at.5" = getelementptr float, ptr %".439", i64 2
  %".480" = load float, ptr %"tmp4.origin.at.5", align 4
  %".481" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".480", i32 0
  %"tmp4.origin.value.4" = shufflevector <8 x float> %".481", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.2" = getelementptr float, ptr %".446", i64 16
  %"in2.value.2" = load <8 x float>, ptr %"in2.at.2", align 4
  %"multiply.8" = fmul contract <8 x float> %"tmp4.origin.value.4", %"in2.value.2"
  %".486" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.24" = fadd contract <8 x float> %".486", %"multiply.8"
  store <8 x float> %"add.24", <8 x float>* %"sum.5"
  %"tmp4.origin.at.6" = getelementptr float, ptr %".439", i64 6
  %".490" = load float, ptr %"tmp4.origin.at.6", align 4
  %".491" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".490", i32 0
  %"tmp4.origin.value.5" = shufflevector <8 x float> %".491", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.9" = fmul contract <8 x float> %"tmp4.origin.value.5", %"in2.value.2"
  %".494" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.25" = fadd contract <8 x float> %".494", %"multiply.9"
  store <8 x float> %"add.25", <8 x float>* %"sum.6"
  %"tmp4.origin.at.7" = getelementptr float, ptr %".439", i64 3
  %".498" = load float, ptr %"tmp4.origin.at.7", align 4
  %".499" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".498", i32 0
  %"tmp4.origin.value.6" = shufflevector <8 x float> %".499", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in2.at.3" = getelementptr float, ptr %".446", i64 24
  %"in2.value.3" = load <8 x float>, ptr %"in2.at.3", align 4
  %"multiply.10" = fmul contract <8 x float> %"tmp4.origin.value.6", %"in2.value.3"
  %".504" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.26" = fadd contract <8 x float> %".504", %"multiply.10"
  store <8 x float> %"add.26", <8 x float>* %"sum.5"
  %"tmp4.origin.at.8" = getelementptr float, ptr %".439", i64 7
  %".508" = load float, ptr %"tmp4.origin.at.8", align 4
  %".509" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".508", i32 0
  %"tmp4.origin.value.7" = shufflevector <8 x float> %".509", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.11" = fmul contract <8 x float> %"tmp4.origin.value.7", %"in2.value.3"
  %".512" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.27" = fadd contract <8 x float> %".512", %"multiply.11"
  store <8 x float> %"add.27", <8 x float>* %"sum.6"
  %".515" = load <8 x float>, <8 x float>* %"sum.5"
  %".516" = load <8 x float>, <8 x float>* %"sum.6"
  %".517" = mul nsw i64 %"i0.3", 8
  %".518" = add nsw i64 0, %".517"
  %".519" = mul nsw i64 %"i1.1", 1
  %".520" = add nsw i64 %".518", %".519"
  %".521" = getelementptr float, ptr %"out0", i64 %".520"
  %"out0.at" = getelementptr float, ptr %".521", i64 0
  store <8 x float> %".515", ptr %"out0.at", align 4
  %".524" = mul nsw i64 %"i0.3", 8
  %".525" = add nsw i64 0, %".524"
  %".526" = mul nsw i64 %"i1.1", 1
  %".527" = add nsw i64 %".525", %".526"
  %".528" = getelementptr float, ptr %"out0", i64 %".527"
  %"out0.at.1" = getelementptr float, ptr %".528", i64 8
  store <8 x float> %".516", ptr %"out0.at.1", align 4
  %"i0.next.3" = add nsw i64 %"i0.3", 2
  br label %"i0.loop.3"
i0.after.3:
  %"i1.next.1" = add nsw i64 %"i1.1", 8
  br label %"i1.loop.1"
}

declare <8 x float> @"llvm.masked.gather.v8f32.v8p0"(<8 x ptr> %".1", i32 %".2", <8 x i1> %".3", <8 x float> %".4")

declare void @"llvm.masked.store.v8f32.p0"(<8 x float> %".1", ptr %".2", i32 %".3", <8 x i1> %".4")

declare <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %".1", i32 %".2", <8 x i1> %".3", <8 x float> %".4")

declare <8 x float> @"burnish.exp.f32.8"(<8 x float> %".1")
