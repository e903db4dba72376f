; for cpu: avx2: softmax_2
;   in0 = x: f32[4, 24]
;   out0 = y: f32[4, 24]
;   y.max$0: f32[i0=4, i1=1] = max(k0=24) x[i0, k0]  # softmax_2
;   y.exp$0: f32[i0=4, i1=24] = exp(x[i0, i1] - y.max$0[i0, 0])  # softmax_2
;   y.sum$0: f32[i0=4, i1=1] = sum(k0=24) y.exp$0[i0, k0]  # softmax_2
;   y: f32[i0=4, i1=24] = y.exp$0[i0, i1] / y.sum$0[i0, 0]  # softmax_2
; loops      y.max$0: i0=4 of i0, k0=24 of k0, 3 vectors of 8 summed along k0
; loops      y.exp$0: i0=4 of i0, i1=24 of i1, 2 vectors of 8 along i1
; loops      y.sum$0: i0=4 of i0, k0=24 of k0, 3 vectors of 8 summed along k0
; loops      y: i0=4 of i0, i1=24 of i1, 2 vectors of 8 along i1
; schedule   tile 4×24
; launch     tiles 1, scratch_bytes 960
; predicted  1.21 µs, 384 B from and to memory
; ModuleID = "softmax_19d8a82418b8"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"softmax_19d8a82418b8"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
{
entry:
  %".6" = getelementptr ptr, ptr %"arguments", i64 0
  %"in0" = load ptr, ptr %".6"
  %".7" = getelementptr ptr, ptr %"arguments", i64 1
  %"out0" = load ptr, ptr %".7"
  %"tmp0" = getelementptr i8, ptr %"scratch", i64 0
  %"tmp1" = getelementptr i8, ptr %"scratch", i64 640
  %"tmp2" = getelementptr i8, ptr %"scratch", i64 640
  %"max" = alloca <8 x float>
  %"max.1" = alloca <8 x float>
  %"max.2" = alloca <8 x float>
  %"sum" = alloca <8 x float>
  %"sum.1" = alloca <8 x float>
  %"sum.2" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i0.after.3"]
  %".13" = icmp slt i64 %"tile", %"end"
  br i1 %".13", label %"tile.body", label %"tile.after"
tile.body:
  %".15" = mul i64 0, -1
  %".16" = add i64 0, %".15"
  %".17" = mul i64 0, -1
  %".18" = add i64 %".16", %".17"
  %".19" = mul i64 %".18", 4
  %"tmp1.origin" = getelementptr i8, ptr %"tmp1", i64 %".19"
  %".21" = mul i64 0, -24
  %".22" = add i64 0, %".21"
  %".23" = mul i64 0, -1
  %".24" = add i64 %".22", %".23"
  %".25" = mul i64 %".24", 4
  %"tmp0.origin" = getelementptr i8, ptr %"tmp0", i64 %".25"
  %".27" = mul i64 0, -1
  %".28" = add i64 0, %".27"
  %".29" = mul i64 0, -4
  %".30" = add i64 %".28", %".29"
  %".31" = mul i64 %".30", 4
  %"tmp2.origin" = getelementptr i8, ptr %"tmp2", i64 %".31"
  %".33" = add i64 0, 4
  %".34" = add i64 0, 1
  br label %"i0.loop"
tile.after:
  ret void
i0.loop:
  %"i0" = phi  i64 [0, %"tile.body"], [%"i0.next", %"k0.after"]
  %".36" = icmp slt i64 %"i0", %".33"
  br i1 %".36", label %"i0.body", label %"i0.after"
i0.body:
  store <8 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <8 x float>* %"max"
  store <8 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <8 x float>* %"max.1"
  store <8 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <8 x float>* %"max.2"
  %".41" = add i64 0, 24
  br label %"k0.loop"
i0.after:
  %".112" = add i64 0, 4
  %".113" = add i64 0, 24
  br label %"i0.loop.1"
k0.loop:
  %"k0" = phi  i64 [0, %"i0.body"], [%"k0.next", %"k0.body"]
  %".43" = icmp slt i64 %"k0", %".41"
  br i1 %".43", label %"k0.body", label %"k0.after"
k0.body:
  %".45" = mul nsw i64 %"i0", 24
  %".46" = add nsw i64 0, %".45"
  %".47" = mul nsw i64 %"k0", 1
  %".48" = add nsw i64 %".46", %".47"
  %".49" = getelementptr float, ptr %"in0", i64 %".48"
  %"in0.at" = getelementptr float, ptr %".49", i64 0
  %"in0.value" = load <8 x float>, ptr %"in0.at", align 4
  %".52" = load <8 x float>, <8 x float>* %"max"
  %".53" = fcmp uno <8 x float> %".52", %".52"
  %".54" = fcmp ogt <8 x float> %".52", %"in0.value"
  %".55" = select  <8 x i1> %".54", <8 x float> %".52", <8 x float> %"in0.value"
  %"maximum" = select  <8 x i1> %".53", <8 x float> %".52", <8 x float> %".55"
  store <8 x float> %"maximum", <8 x float>* %"max"
  %"in0.at.1" = getelementptr float, ptr %".49", i64 8
  %"in0.value.1" = load <8 x float>, ptr %"in0.at.1", align 4
  %".60" = load <8 x float>, <8 x float>* %"max.1"
  %".61" = fcmp uno <8 x float> %".60", %".60"
  %".62" = fcmp ogt <8 x float> %".60", %"in0.value.1"
  %".63" = select  <8 x i1> %".62", <8 x float> %".60", <8 x float> %"in0.value.1"
  %"maximum.1" = select  <8 x i1> %".61", <8 x float> %".60", <8 x float> %".63"
  store <8 x float> %"maximum.1", <8 x float>* %"max.1"
  %"in0.at.2" = getelementptr float, ptr %".49", i64 16
  %"in0.value.2" = load <8 x float>, ptr %"in0.at.2", align 4
  %".68" = load <8 x float>, <8 x float>* %"max.2"
  %".69" = fcmp uno <8 x float> %".68", %".68"
  %".70" = fcmp ogt <8 x float> %".68", %"in0.value.2"
  %".71" = select  <8 x i1> %".70", <8 x float> %".68", <8 x float> %"in0.value.2"
  %"maximum.2" = select  <8 x i1> %".69", <8 x float> %".68", <8 x float> %".71"
  store <8 x float> %"maximum.2", <8 x float>* %"max.2"
  %"k0.next" = add nsw i64 %"k0", 24
  br label %"k0.loop"
k0.after:
  %".75" = load <8 x float>, <8 x float>* %"max"
  %".76" = load <8 x float>, <8 x float>* %"max.1"
  %".77" = fcmp uno <8 x float> %".75", %".75"
  %".78" = fcmp ogt <8 x float> %".75", %".76"
  %".79" = select  <8 x i1> %".78", <8 x float> %".75", <8 x float> %".76"
  %"maximum.3" = select  <8 x i1> %".77", <8 x float> %".75", <8 x float> %".79"
  %".81" = load <8 x float>, <8 x float>* %"max.2"
  %".82" = fcmp uno <8 x float> %"maximum.3", %"maximum.3"
  %".83" = fcmp ogt <8 x float> %"maximum.3", %".81"
  %".84" = select  <8 x i1> %".83", <8 x float> %"maximum.3", <8 x float> %".81"
  %"maximum.4" = select  <8 x i1> %".82", <8 x float> %"maximum.3", <8 x float> %".84"
  %".86" = shufflevector <8 x float> %"maximum.4", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".87" = shufflevector <8 x float> %"maximum.4", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".88" = fcmp uno <4 x float> %".86", %".86"
  %".89" = fcmp ogt <4 x float> %".86", %".87"
  %".90" = select  <4 x i1> %".89", <4 x float> %".86", <4 x float> %".87"
  %"maximum.5" = select  <4 x i1> %".88", <4 x float> %".86", <4 x float> %".90"
  %".92" = shufflevector <4 x float> %"maximum.5", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".93" = shufflevector <4 x float> %"maximum.5", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".94" = fcmp uno <2 x float> %".92", %".92"
  %".95" = fcmp ogt <2 x float> %".92", %".93"
  %".96" = select  <2 x i1> %".95", <2 x float> %".92", <2 x float> %".93"
  %"maximum.6" = select  <2 x i1> %".94", <2 x float> %".92", <2 x float> %".96"
  %".98" = shufflevector <2 x float> %"maximum.6", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".99" = shufflevector <2 x float> %"maximum.6", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".100" = extractelement <1 x float> %".98", i32 0
  %".101" = extractelement <1 x float> %".99", i32 0
  %".102" = fcmp uno float %".100", %".100"
  %".103" = fcmp ogt float %".100", %".101"
  %".104" = select  i1 %".103", float %".100", float %".101"
  %"maximum.7" = select  i1 %".102", float %".100", float %".104"
  %".106" = mul nsw i64 %"i0", 1
  %".107" = add nsw i64 0, %".106"
  %".108" = getelementptr float, ptr %"tmp1.origin", i64 %".107"
  %"tmp1.origin.at" = getelementptr float, ptr %".108", i64 0
  store float %"maximum.7", ptr %"tmp1.origin.at", align 4
  %"i0.next" = add nsw i64 %"i0", 1
  br label %"i0.loop"
i0.loop.1:
  %"i0.1" = phi  i64 [0, %"i0.after"], [%"i0.next.1", %"i1.after"]
  %".115" = icmp slt i64 %"i0.1", %".112"
  br i1 %".115", label %"i0.body.1", label %"i0.after.1"
i0.body.1:
  %".117" = add i64 0, 16
  br label %"i1.loop"
i0.after.1:
  %".181" = add i64 0, 4
  %".182" = add i64 0, 1
  br label %"i0.loop.2"
i1.loop:
  %"i1" = phi  i64 [0, %"i0.body.1"], [%"i1.next", %"i1.body"]
  %".119" = icmp slt i64 %"i1", %".117"
  br i1 %".119", label %"i1.body", label %"i1.after"
i1.body:
  %".121" = mul nsw i64 %"i0.1", 24
  %".122" = add nsw i64 0, %".121"
  %".123" = mul nsw i64 %"i1", 1
  %".124" = add nsw i64 %".122", %".123"
  %".125" = getelementptr float, ptr %"in0", i64 %".124"
  %"in0.at.3" = getelementptr float, ptr %".125", i64 0
  %"in0.value.3" = load <8 x float>, ptr %"in0.at.3", align 4
  %".128" = mul nsw i64 %"i0.1", 1
  %".129" = add nsw i64 0, %".128"
  %".130" = getelementptr float, ptr %"tmp1.origin", i64 %".129"
  %"tmp1.origin.at.1" = getelementptr float, ptr %".130", i64 0
  %".132" = load float, ptr %"tmp1.origin.at.1", align 4
  %".133" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".132", i32 0
  %"tmp1.origin.value" = shufflevector <8 x float> %".133", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"subtract" = fsub contract <8 x float> %"in0.value.3", %"tmp1.origin.value"
  %"exp" = call <8 x float> @"burnish.exp.f32.8"(<8 x float> %"subtract")
  %".137" = mul nsw i64 %"i0.1", 24
  %".138" = add nsw i64 0, %".137"
  %".139" = mul nsw i64 %"i1", 1
  %".140" = add nsw i64 %".138", %".139"
  %".141" = getelementptr float, ptr %"tmp0.origin", i64 %".140"
  %"tmp0.origin.at" = getelementptr float, ptr %".141", i64 0
  store <8 x float> %"exp", ptr %"tmp0.origin.at", align 4
  %"in0.at.4" = getelementptr float, ptr %".125", i64 8
  %"in0.value.4" = load <8 x float>, ptr %"in0.at.4", align 4
  %"subtract.1" = fsub contract <8 x float> %"in0.value.4", %"tmp1.origin.value"
  %"exp.1" = call <8 x float> @"burnish.exp.f32.8"(<8 x float> %"subtract.1")
  %".148" = mul nsw i64 %"i0.1", 24
  %".149" = add nsw i64 0, %".148"
  %".150" = mul nsw i64 %"i1", 1
  %".151" = add nsw i64 %".149", %".150"
  %".152" = getelementptr float, ptr %"tmp0.origin", i64 %".151"
  %"tmp0.origin.at.1" = getelementptr float, ptr %".152", i64 8
  store <8 x float> %"exp.1", ptr %"tmp0.origin.at.1", align 4
  %"i1.next" = add nsw i64 %"i1", 16
  br label %"i1.loop"
i1.after:
  %".156" = add i64 0, 16
  %".157" = mul nsw i64 %"i0.1", 24
  %".158" = add nsw i64 0, %".157"
  %".159" = mul nsw i64 %".156", 1
  %".160" = add nsw i64 %".158", %".159"
  %".161" = getelementptr float, ptr %"in0", i64 %".160"
  %"in0.at.5" = getelementptr float, ptr %".161", i64 0
  %"in0.value.5" = load <8 x float>, ptr %"in0.at.5", align 4
  %".164" = mul nsw i64 %"i0.1", 1
  %".165" = add nsw i64 0, %".164"
  %".166" = getelementptr float, ptr %"tmp1.origin", i64 %".165"
  %"tmp1.origin.at.2" = getelementptr float, ptr %".166", i64 0
  %".168" = load float, ptr %"tmp1.origin.at.2", align 4
  %".169" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".168", i32 0
  %"tmp1.origin.value.1" = shufflevector <8 x float> %".169", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"subtract.2" = fsub contract <8 x float> %"in0.value.5", %"tmp1.origin.value.1"
  %"exp.2" = call <8 x float> @"burnish.exp.f32.8"(<8 x float> %"subtract.2")
  %".173" = mul nsw i64 %"i0.1", 24
  %".174" = add nsw i64 0, %".173"
  %".175" = mul nsw i64 %".156", 1
  %".176" = add nsw i64 %".174", %".175"
  %".177" = getelementptr float, ptr %"tmp0.origin", i64 %".176"
  %"tmp0.origin.at.2" = getelementptr float, ptr %".177", i64 0
  store <8 x float> %"exp.2", ptr %"tmp0.origin.at.2", align 4
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  br label %"i0.loop.1"
i0.loop.2:
  %"i0.2" = phi  i64 [0, %"i0.after.1"], [%"i0.next.2", %"k0.after.1"]
  %".184" = icmp slt i64 %"i0.2", %".181"
  br i1 %".184", label %"i0.body.2", label %"i0.after.2"
i0.body.2:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.1"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.2"
  %".189" = add i64 0, 24
  br label %"k0.loop.1"
i0.after.2:
  %".236" = add i64 0, 4
  %".237" = add i64 0, 24
  br label %"i0.loop.3"
k0.loop.1:
  %"k0.1" = phi  i64 [0, %"i0.body.2"], [%"k0.next.1", %"k0.body.1"]
  %".191" = icmp slt i64 %"k0.1", %".189"
  br i1 %".191", label %"k0.body.1", label %"k0.after.1"
k0.body.1:
  %".193" = mul nsw i64 %"i0.2", 24
  %".194" = add nsw i64 0, %".193"
  %".195" = mul nsw i64 %"k0.1", 1
  %".196" = add nsw i64 %".194", %".195"
  %".197" = getelementptr float, ptr %"tmp0.origin", i64 %".196"
  %"tmp0.origin.at.3" = getelementptr float, ptr %".197", i64 0
  %"tmp0.origin.value" = load <8 x float>, ptr %"tmp0.origin.at.3", align 4
  %".200" = load <8 x float>, <8 x float>* %"sum"
  %"add" = fadd contract <8 x float> %".200", %"tmp0.origin.value"
  store <8 x float> %"add", <8 x float>* %"sum"
  %"tmp0.origin.at.4" = getelementptr float, ptr %".197", i64 8
  %"tmp0.origin.value.1" = load <8 x float>, ptr %"tmp0.origin.at.4", align 4
  %".205" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.1" = fadd contract <8 x float> %".205", %"tmp0.origin.value.1"
  store <8 x float> %"add.1", <8 x float>* %"sum.1"
  %"tmp0.origin.at.5" = getelementptr float, ptr %".197", i64 16
  %"tmp0.origin.value.2" = load <8 x float>, ptr %"tmp0.origin.at.5", align 4
  %".210" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.2" = fadd contract <8 x float> %".210", %"tmp0.origin.value.2"
  store <8 x float> %"add.2", <8 x float>* %"sum.2"
  %"k0.next.1" = add nsw i64 %"k0.1", 24
  br label %"k0.loop.1"
k0.after.1:
  %".214" = load <8 x float>, <8 x float>* %"sum"
  %".215" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.3" = fadd contract <8 x float> %".214", %".215"
  %".217" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.4" = fadd contract <8 x float> %"add.3", %".217"
  %".219" = shufflevector <8 x float> %"add.4", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".220" = shufflevector <8 x float> %"add.4", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %"add.5" = fadd contract <4 x float> %".219", %".220"
  %".222" = shufflevector <4 x float> %"add.5", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".223" = shufflevector <4 x float> %"add.5", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %"add.6" = fadd contract <2 x float> %".222", %".223"
  %".225" = shufflevector <2 x float> %"add.6", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".226" = shufflevector <2 x float> %"add.6", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".227" = extractelement <1 x float> %".225", i32 0
  %".228" = extractelement <1 x float> %".226", i32 0
  %"add.7" = fadd contract float %".227", %".228"
  %".230" = mul nsw i64 %"i0.2", 1
  %".231" = add nsw i64 0, %".230"
  %".232" = getelementptr float, ptr %"tmp2.origin", i64 %".231"
  %"tmp2.origin.at" = getelementptr float, ptr %".232", i64 0
  store float %"add.7", ptr %"tmp2.origin.at", align 4
  %"i0.next.2" = add nsw i64 %"i0.2", 1
  br label %"i0.loop.2"
i0.loop.3:
  %"i0.3" = phi  i64 [0, %"i0.after.2"], [%"i0.next.3", %"i1.after.1"]
  %".239" = icmp slt i64 %"i0.3", %".236"
  br i1 %".239", label %"i0.body.3", label %"i0.after.3"
i0.body.3:
  %".241" = add i64 0, 16
  br label %"i1.loop.1"
i0.after.3:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i1.loop.1:
  %"i1.1" = phi  i64 [0, %"i0.body.3"], [%"i1.next.1", %"i1.body.1"]
  %".243" = icmp slt i64 %"i1.1", %".241"
  br i1 %".243", label %"i1.body.1", label %"i1.after.1"
i1.body.1:
  %".245" = mul nsw i64 %"i0.3", 24
  %".246" = add nsw i64 0, %".245"
  %".247" = mul nsw i64 %"i1.1", 1
  %".248" = add nsw i64 %".246", %".247"
  %".249" = getelementptr float, ptr %"tmp0.origin", i64 %".248"
  %"tmp0.origin.at.6" = getelementptr float, ptr %".249", i64 0
  %"tmp0.origin.value.3" = load <8 x float>, ptr %"tmp0.origin.at.6", align 4
  %".252" = mul nsw i64 %"i0.3", 1
  %".253" = add nsw i64 0, %".252"
  %".254" = getelementptr float, ptr %"tmp2.origin", i64 %".253"
  %"tmp2.origin.at.1" = getelementptr float, ptr %".254", i64 0
  %".256" = load float, ptr %"tmp2.origin.at.1", align 4
  %".257" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".256", i32 0
  %"tmp2.origin.value" = shufflevector <8 x float> %".257", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"reciprocal" = fdiv <8 x float> splat (float 0x3ff0000000000000), %"tmp2.origin.value"
  %"multiply" = fmul contract <8 x float> %"tmp0.origin.value.3", %"reciprocal"
  %".261" = mul nsw i64 %"i0.3", 24
  %".262" = add nsw i64 0, %".261"
  %".263" = mul nsw i64 %"i1.1", 1
  %".264" = add nsw i64 %".262", %".263"
  %".265" = getelementptr float, ptr %"out0", i64 %".264"
  %"out0.at" = getelementptr float, ptr %".265", i64 0
  store <8 x float> %"multiply", ptr %"out0.at", align 4
  %"tmp0.origin.at.7" = getelementptr float, ptr %".249", i64 8
  %"tmp0.origin.value.4" = load <8 x float>, ptr %"tmp0.origin.at.7", align 4
  %"reciprocal.1" = fdiv <8 x float> splat (float 0x3ff0000000000000), %"tmp2.origin.value"
  %"multiply.1" = fmul contract <8 x float> %"tmp0.origin.value.4", %"reciprocal.1"
  %".272" = mul nsw i64 %"i0.3", 24
  %".273" = add nsw i64 0, %".272"
  %".274" = mul nsw i64 %"i1.1", 1
  %".275" = add nsw i64 %".273", %".274"
  %".276" = getelementptr float, ptr %"out0", i64 %".275"
  %"out0.at.1" = getelementptr float, ptr %".276", i64 8
  store <8 x float> %"multiply.1", ptr %"out0.at.1", align 4
  %"i1.next.1" = add nsw i64 %"i1.1", 16
  br label %"i1.loop.1"
i1.after.1:
  %".280" = add i64 0, 16
  %".281" = mul nsw i64 %"i0.3", 24
  %".282" = add nsw i64 0, %".281"
  %".283" = mul nsw i64 %".280", 1
  %".284" = add nsw i64 %".282", %".283"
  %".285" = getelementptr float, ptr %"tmp0.origin", i64 %".284"
  %"tmp0.origin.at.8" = getelementptr float, ptr %".285", i64 0
  %"tmp0.origin.value.5" = load <8 x float>, ptr %"tmp0.origin.at.8", align 4
  %".288" = mul nsw i64 %"i0.3", 1
  %".289" = add nsw i64 0, %".288"
  %".290" = getelementptr float, ptr %"tmp2.origin", i64 %".289"
  %"tmp2.origin.at.2" = getelementptr float, ptr %".290", i64 0
  %".292" = load float, ptr %"tmp2.origin.at.2", align 4
  %".293" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".292", i32 0
  %"tmp2.origin.value.1" = shufflevector <8 x float> %".293", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"reciprocal.2" = fdiv <8 x float> splat (float 0x3ff0000000000000), %"tmp2.origin.value.1"
  %"multiply.2" = fmul contract <8 x float> %"tmp0.origin.value.5", %"reciprocal.2"
  %".297" = mul nsw i64 %"i0.3", 24
  %".298" = add nsw i64 0, %".297"
  %".299" = mul nsw i64 %".280", 1
  %".300" = add nsw i64 %".298", %".299"
  %".301" = getelementptr float, ptr %"out0", i64 %".300"
  %"out0.at.2" = getelementptr float, ptr %".301", i64 0
  store <8 x float> %"multiply.2", ptr %"out0.at.2", align 4
  %"i0.next.3" = add nsw i64 %"i0.3", 1
  br label %"i0.loop.3"
}

declare <8 x float> @"burnish.exp.f32.8"(<8 x float> %".1")
