; ModuleID = "kernel"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"kernel"(ptr %".1", i64 %".2", i64 %".3", ptr %".4")
{
entry:
  %".6" = getelementptr ptr, ptr %".1", i64 0
  %".7" = load ptr, ptr %".6"
  %".8" = getelementptr ptr, ptr %".1", i64 1
  %".9" = load ptr, ptr %".8"
  %".10" = getelementptr ptr, ptr %".1", i64 2
  %".11" = load ptr, ptr %".10"
  %".29" = alloca <8 x float>
  %".31" = alloca <8 x float>
  %".33" = alloca <8 x float>
  %".35" = alloca <8 x float>
  %".37" = alloca <8 x float>
  %".39" = alloca <8 x float>
  %".41" = alloca <8 x float>
  %".43" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"loop"
loop:
  %".14" = phi  i64 [%".2", %"tiles"], [%".275", %"after.1"]
  %".15" = icmp slt i64 %".14", %".3"
  br i1 %".15", label %"body", label %"after"
body:
  %".17" = add i64 0, 4
  %".18" = add i64 0, 16
  %".19" = add i64 0, 16
  br label %"loop.1"
after:
  ret void
loop.1:
  %".21" = phi  i64 [0, %"body"], [%".273", %"after.2"]
  %".22" = icmp slt i64 %".21", %".19"
  br i1 %".22", label %"body.1", label %"after.1"
body.1:
  %".24" = add i64 0, 4
  br label %"loop.2"
after.1:
  %".275" = add nsw i64 %".14", 1
  br label %"loop"
loop.2:
  %".26" = phi  i64 [0, %"body.1"], [%".271", %"body.2"]
  %".27" = icmp slt i64 %".26", %".24"
  br i1 %".27", label %"body.2", label %"after.2"
body.2:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %".29"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %".31"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %".33"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %".35"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %".37"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %".39"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %".41"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %".43"
  %".45" = mul nsw i64 %".26", 3
  %".46" = add nsw i64 0, %".45"
  %".47" = getelementptr float, ptr %".7", i64 %".46"
  %".48" = getelementptr float, ptr %".47", i64 0
  %".49" = load float, ptr %".48", align 4
  %".50" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".49", i32 0
  %".51" = shufflevector <8 x float> %".50", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".52" = mul nsw i64 %".21", 1
  %".53" = add nsw i64 0, %".52"
  %".54" = getelementptr float, ptr %".9", i64 %".53"
  %".55" = getelementptr float, ptr %".54", i64 0
  %".56" = load <8 x float>, ptr %".55", align 4
  %".57" = fmul contract <8 x float> %".51", %".56"
  %".58" = load <8 x float>, <8 x float>* %".29"
  %".59" = fadd contract <8 x float> %".58", %".57"
  store <8 x float> %".59", <8 x float>* %".29"
  %".61" = getelementptr float, ptr %".54", i64 8
  %".62" = load <8 x float>, ptr %".61", align 4
  %".63" = fmul contract <8 x float> %".51", %".62"
  %".64" = load <8 x float>, <8 x float>* %".31"
  %".65" = fadd contract <8 x float> %".64", %".63"
  store <8 x float> %".65", <8 x float>* %".31"
  %".67" = getelementptr float, ptr %".47", i64 3
  %".68" = load float, ptr %".67", align 4
  %".69" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".68", i32 0
  %".70" = shufflevector <8 x float> %".69", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".71" = fmul contract <8 x float> %".70", %".56"
  %".72" = load <8 x float>, <8 x float>* %".33"
  %".73" = fadd contract <8 x float> %".72", %".71"
  store <8 x float> %".73", <8 x float>* %".33"
  %".75" = fmul contract <8 x float> %".70", %".62"
  %".76" = load <8 x float>, <8 x float>* %".35"
  %".77" = fadd contract <8 x float> %".76", %".75"
  store <8 x float> %".77", <8 x float>* %".35"
  %".79" = getelementptr float, ptr %".47", i64 6
  %".80" = load float, ptr %".79", align 4
  %".81" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".80", i32 0
  %".82" = shufflevector <8 x float> %".81", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".83" = fmul contract <8 x float> %".82", %".56"
  %".84" = load <8 x float>, <8 x float>* %".37"
  %".85" = fadd contract <8 x float> %".84", %".83"
  store <8 x float> %".85", <8 x float>* %".37"
  %".87" = fmul contract <8 x float> %".82", %".62"
  %".88" = load <8 x float>, <8 x float>* %".39"
  %".89" = fadd contract <8 x float> %".88", %".87"
  store <8 x float> %".89", <8 x float>* %".39"
  %".91" = getelementptr float, ptr %".47", i64 9
  %".92" = load float, ptr %".91", align 4
  %".93" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".92", i32 0
  %".94" = shufflevector <8 x float> %".93", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".95" = fmul contract <8 x float> %".94", %".56"
  %".96" = load <8 x float>, <8 x float>* %".41"
  %".97" = fadd contract <8 x float> %".96", %".95"
  store <8 x float> %".97", <8 x float>* %".41"
  %".99" = fmul contract <8 x float> %".94", %".62"
  %".100" = load <8 x float>, <8 x float>* %".43"
  %".101" = fadd contract <8 x float> %".100", %".99"
  store <8 x float> %".101", <8 x float>* %".43"
  %".103" = getelementptr float, ptr %".47", i64 1
  %".104" = load float, ptr %".103", align 4
  %".105" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".104", i32 0
  %".106" = shufflevector <8 x float> %".105", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".107" = getelementptr float, ptr %".54", i64 16
  %".108" = load <8 x float>, ptr %".107", align 4
  %".109" = fmul contract <8 x float> %".106", %".108"
  %".110" = load <8 x float>, <8 x float>* %".29"
  %".111" = fadd contract <8 x float> %".110", %".109"
  store <8 x float> %".111", <8 x float>* %".29"
  %".113" = getelementptr float, ptr %".54", i64 24
  %".114" = load <8 x float>, ptr %".113", align 4
  %".115" = fmul contract <8 x float> %".106", %".114"
  %".116" = load <8 x float>, <8 x float>* %".31"
  %".117" = fadd contract <8 x float> %".116", %".115"
  store <8 x float> %".117", <8 x float>* %".31"
  %".119" = getelementptr float, ptr %".47", i64 4
  %".120" = load float, ptr %".119", align 4
  %".121" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".120", i32 0
  %".122" = shufflevector <8 x float> %".121", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".123" = fmul contract <8 x float> %".122", %".108"
  %".124" = load <8 x float>, <8 x float>* %".33"
  %".125" = fadd contract <8 x float> %".124", %".123"
  store <8 x float> %".125", <8 x float>* %".33"
  %".127" = fmul contract <8 x float> %".122", %".114"
  %".128" = load <8 x float>, <8 x float>* %".35"
  %".129" = fadd contract <8 x float> %".128", %".127"
  store <8 x float> %".129", <8 x float>* %".35"
  %".131" = getelementptr float, ptr %".47", i64 7
  %".132" = load float, ptr %".131", align 4
  %".133" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".132", i32 0
  %".134" = shufflevector <8 x float> %".133", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".135" = fmul contract <8 x float> %".134", %".108"
  %".136" = load <8 x float>, <8 x float>* %".37"
  %".137" = fadd contract <8 x float> %".136", %".135"
  store <8 x float> %".137", <8 x float>* %".37"
  %".139" = fmul contract <8 x float> %".134", %".114"
  %".140" = load <8 x float>, <8 x float>* %".39"
  %".141" = fadd contract <8 x float> %".140", %".139"
  store <8 x float> %".141", <8 x float>* %".39"
  %".143" = getelementptr float, ptr %".47", i64 10
  %".144" = load float, ptr %".143", align 4
  %".145" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".144", i32 0
  %".146" = shufflevector <8 x float> %".145", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".147" = fmul contract <8 x float> %".146", %".108"
  %".148" = load <8 x float>, <8 x float>* %".41"
  %".149" = fadd contract <8 x float> %".148", %".147"
  store <8 x float> %".149", <8 x float>* %".41"
  %".151" = fmul contract <8 x float> %".146", %".114"
  %".152" = load <8 x float>, <8 x float>* %".43"
  %".153" = fadd contract <8 x float> %".152", %".151"
  store <8 x float> %".153", <8 x float>* %".43"
  %".155" = getelementptr float, ptr %".47", i64 2
  %".156" = load float, ptr %".155", align 4
  %".157" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".156", i32 0
  %".158" = shufflevector <8 x float> %".157", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".159" = getelementptr float, ptr %".54", i64 32
  %".160" = load <8 x float>, ptr %".159", align 4
  %".161" = fmul contract <8 x float> %".158", %".160"
  %".162" = load <8 x float>, <8 x float>* %".29"
  %".163" = fadd contract <8 x float> %".162", %".161"
  store <8 x float> %".163", <8 x float>* %".29"
  %".165" = getelementptr float, ptr %".54", i64 40
  %".166" = load <8 x float>, ptr %".165", align 4
  %".167" = fmul contract <8 x float> %".158", %".166"
  %".168" = load <8 x float>, <8 x float>* %".31"
  %".169" = fadd contract <8 x float> %".168", %".167"
  store <8 x float> %".169", <8 x float>* %".31"
  %".171" = getelementptr float, ptr %".47", i64 5
  %".172" = load float, ptr %".171", align 4
  %".173" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".172", i32 0
  %".174" = shufflevector <8 x float> %".173", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".175" = fmul contract <8 x float> %".174", %".160"
  %".176" = load <8 x float>, <8 x float>* %".33"
  %".177" = fadd contract <8 x float> %".176", %".175"
  store <8 x float> %".177", <8 x float>* %".33"
  %".179" = fmul contract <8 x float> %".174", %".166"
  %".180" = load <8 x float>, <8 x float>* %".35"
  %".181" = fadd contract <8 x float> %".180", %".179"
  store <8 x float> %".181", <8 x float>* %".35"
  %".183" = getelementptr float, ptr %".47", i64 8
  %".184" = load float, ptr %".183", align 4
  %".185" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".184", i32 0
  %".186" = shufflevector <8 x float> %".185", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".187" = fmul contract <8 x float> %".186", %".160"
  %".188" = load <8 x float>, <8 x float>* %".37"
  %".189" = fadd contract <8 x float> %".188", %".187"
  store <8 x float> %".189", <8 x float>* %".37"
  %".191" = fmul contract <8 x float> %".186", %".166"
  %".192" = load <8 x float>, <8 x float>* %".39"
  %".193" = fadd contract <8 x float> %".192", %".191"
  store <8 x float> %".193", <8 x float>* %".39"
  %".195" = getelementptr float, ptr %".47", i64 11
  %".196" = load float, ptr %".195", align 4
  %".197" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".196", i32 0
  %".198" = shufflevector <8 x float> %".197", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".199" = fmul contract <8 x float> %".198", %".160"
  %".200" = load <8 x float>, <8 x float>* %".41"
  %".201" = fadd contract <8 x float> %".200", %".199"
  store <8 x float> %".201", <8 x float>* %".41"
  %".203" = fmul contract <8 x float> %".198", %".166"
  %".204" = load <8 x float>, <8 x float>* %".43"
  %".205" = fadd contract <8 x float> %".204", %".203"
  store <8 x float> %".205", <8 x float>* %".43"
  %".207" = load <8 x float>, <8 x float>* %".29"
  %".208" = load <8 x float>, <8 x float>* %".31"
  %".209" = load <8 x float>, <8 x float>* %".33"
  %".210" = load <8 x float>, <8 x float>* %".35"
  %".211" = load <8 x float>, <8 x float>* %".37"
  %".212" = load <8 x float>, <8 x float>* %".39"
  %".213" = load <8 x float>, <8 x float>* %".41"
  %".214" = load <8 x float>, <8 x float>* %".43"
  %".215" = mul nsw i64 %".26", 16
  %".216" = add nsw i64 0, %".215"
  %".217" = mul nsw i64 %".21", 1
  %".218" = add nsw i64 %".216", %".217"
  %".219" = getelementptr float, ptr %".11", i64 %".218"
  %".220" = getelementptr float, ptr %".219", i64 0
  store <8 x float> %".207", ptr %".220", align 4
  %".222" = mul nsw i64 %".26", 16
  %".223" = add nsw i64 0, %".222"
  %".224" = mul nsw i64 %".21", 1
  %".225" = add nsw i64 %".223", %".224"
  %".226" = getelementptr float, ptr %".11", i64 %".225"
  %".227" = getelementptr float, ptr %".226", i64 8
  store <8 x float> %".208", ptr %".227", align 4
  %".229" = mul nsw i64 %".26", 16
  %".230" = add nsw i64 0, %".229"
  %".231" = mul nsw i64 %".21", 1
  %".232" = add nsw i64 %".230", %".231"
  %".233" = getelementptr float, ptr %".11", i64 %".232"
  %".234" = getelementptr float, ptr %".233", i64 16
  store <8 x float> %".209", ptr %".234", align 4
  %".236" = mul nsw i64 %".26", 16
  %".237" = add nsw i64 0, %".236"
  %".238" = mul nsw i64 %".21", 1
  %".239" = add nsw i64 %".237", %".238"
  %".240" = getelementptr float, ptr %".11", i64 %".239"
  %".241" = getelementptr float, ptr %".240", i64 24
  store <8 x float> %".210", ptr %".241", align 4
  %".243" = mul nsw i64 %".26", 16
  %".244" = add nsw i64 0, %".243"
  %".245" = mul nsw i64 %".21", 1
  %".246" = add nsw i64 %".244", %".245"
  %".247" = getelementptr float, ptr %".11", i64 %".246"
  %".248" = getelementptr float, ptr %".247", i64 32
  store <8 x float> %".211", ptr %".248", align 4
  %".250" = mul nsw i64 %".26", 16
  %".251" = add nsw i64 0, %".250"
  %".252" = mul nsw i64 %".21", 1
  %".253" = add nsw i64 %".251", %".252"
  %".254" = getelementptr float, ptr %".11", i64 %".253"
  %".255" = getelementptr float, ptr %".254", i64 40
  store <8 x float> %".212", ptr %".255", align 4
  %".257" = mul nsw i64 %".26", 16
  %".258" = add nsw i64 0, %".257"
  %".259" = mul nsw i64 %".21", 1
  %".260" = add nsw i64 %".258", %".259"
  %".261" = getelementptr float, ptr %".11", i64 %".260"
  %".262" = getelementptr float, ptr %".261", i64 48
  store <8 x float> %".213", ptr %".262", align 4
  %".264" = mul nsw i64 %".26", 16
  %".265" = add nsw i64 0, %".264"
  %".266" = mul nsw i64 %".21", 1
  %".267" = add nsw i64 %".265", %".266"
  %".268" = getelementptr float, ptr %".11", i64 %".267"
  %".269" = getelementptr float, ptr %".268", i64 56
  store <8 x float> %".214", ptr %".269", align 4
  %".271" = add nsw i64 %".26", 4
  br label %"loop.2"
after.2:
  %".273" = add nsw i64 %".21", 16
  br label %"loop.1"
}
