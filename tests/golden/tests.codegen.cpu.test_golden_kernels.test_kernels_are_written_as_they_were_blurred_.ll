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
  %".10" = getelementptr i8, ptr %".4", i64 0
  %".188" = alloca <8 x float>
  %".190" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"loop"
loop:
  %".13" = phi  i64 [%".2", %"tiles"], [%".247", %"after.9"]
  %".14" = icmp slt i64 %".13", %".3"
  br i1 %".14", label %"body", label %"after"
body:
  %".16" = urem i64 %".13", 2
  %".17" = udiv i64 %".13", 2
  %".18" = add i64 0, %".16"
  %".19" = mul i64 %".18", -18
  %".20" = add i64 0, %".19"
  %".21" = mul i64 0, -1
  %".22" = add i64 %".20", %".21"
  %".23" = mul i64 %".22", 4
  %".24" = getelementptr i8, ptr %".10", i64 %".23"
  %".25" = getelementptr i8, ptr %".24", i64 4
  %".26" = add i64 0, %".16"
  %".27" = add i64 %".26", 1
  %".28" = add i64 0, 16
  br label %"loop.1"
after:
  ret void
loop.1:
  %".30" = phi  i64 [%".26", %"body"], [%".67", %"after.2"]
  %".31" = icmp slt i64 %".30", %".27"
  br i1 %".31", label %"body.1", label %"after.1"
body.1:
  %".33" = add i64 0, 16
  br label %"loop.2"
after.1:
  %".69" = add i64 0, %".16"
  %".70" = add i64 %".69", 1
  %".71" = add i64 0, 18
  %".72" = icmp sgt i64 0, 0
  %".73" = select  i1 %".72", i64 0, i64 0
  %".74" = icmp slt i64 %".71", 1
  %".75" = select  i1 %".74", i64 %".71", i64 1
  %".76" = icmp sgt i64 0, 17
  %".77" = select  i1 %".76", i64 0, i64 17
  %".78" = icmp slt i64 %".71", 18
  %".79" = select  i1 %".78", i64 %".71", i64 18
  br label %"loop.3"
loop.2:
  %".35" = phi  i64 [0, %"body.1"], [%".65", %"body.2"]
  %".36" = icmp slt i64 %".35", %".33"
  br i1 %".36", label %"body.2", label %"after.2"
body.2:
  %".38" = mul nsw i64 %".30", 16
  %".39" = add nsw i64 0, %".38"
  %".40" = mul nsw i64 %".35", 1
  %".41" = add nsw i64 %".39", %".40"
  %".42" = getelementptr float, ptr %".7", i64 %".41"
  %".43" = getelementptr float, ptr %".42", i64 0
  %".44" = load <8 x float>, ptr %".43", align 4
  %".45" = fcmp ogt <8 x float> splat (float              0x0), %".44"
  %".46" = select  <8 x i1> %".45", <8 x float> splat (float              0x0), <8 x float> %".44"
  %".47" = mul nsw i64 %".30", 18
  %".48" = add nsw i64 0, %".47"
  %".49" = mul nsw i64 %".35", 1
  %".50" = add nsw i64 %".48", %".49"
  %".51" = getelementptr float, ptr %".25", i64 %".50"
  %".52" = getelementptr float, ptr %".51", i64 0
  store <8 x float> %".46", ptr %".52", align 4
  %".54" = getelementptr float, ptr %".42", i64 8
  %".55" = load <8 x float>, ptr %".54", align 4
  %".56" = fcmp ogt <8 x float> splat (float              0x0), %".55"
  %".57" = select  <8 x i1> %".56", <8 x float> splat (float              0x0), <8 x float> %".55"
  %".58" = mul nsw i64 %".30", 18
  %".59" = add nsw i64 0, %".58"
  %".60" = mul nsw i64 %".35", 1
  %".61" = add nsw i64 %".59", %".60"
  %".62" = getelementptr float, ptr %".25", i64 %".61"
  %".63" = getelementptr float, ptr %".62", i64 8
  store <8 x float> %".57", ptr %".63", align 4
  %".65" = add nsw i64 %".35", 16
  br label %"loop.2"
after.2:
  %".67" = add nsw i64 %".30", 1
  br label %"loop.1"
loop.3:
  %".81" = phi  i64 [%".69", %"after.1"], [%".126", %"after.5"]
  %".82" = icmp slt i64 %".81", %".70"
  br i1 %".82", label %"body.3", label %"after.3"
body.3:
  %".84" = sub i64 %".75", %".73"
  %".85" = sdiv i64 %".84", 16
  %".86" = mul i64 %".85", 16
  %".87" = add i64 %".73", %".86"
  br label %"loop.4"
after.3:
  br label %"loop.6"
loop.4:
  %".89" = phi  i64 [%".73", %"body.3"], [%".106", %"body.4"]
  %".90" = icmp slt i64 %".89", %".87"
  br i1 %".90", label %"body.4", label %"after.4"
body.4:
  %".92" = mul nsw i64 %".81", 18
  %".93" = add nsw i64 0, %".92"
  %".94" = mul nsw i64 %".89", 1
  %".95" = add nsw i64 %".93", %".94"
  %".96" = getelementptr float, ptr %".24", i64 %".95"
  %".97" = getelementptr float, ptr %".96", i64 0
  store <8 x float> splat (float              0x0), ptr %".97", align 4
  %".99" = mul nsw i64 %".81", 18
  %".100" = add nsw i64 0, %".99"
  %".101" = mul nsw i64 %".89", 1
  %".102" = add nsw i64 %".100", %".101"
  %".103" = getelementptr float, ptr %".24", i64 %".102"
  %".104" = getelementptr float, ptr %".103", i64 8
  store <8 x float> splat (float              0x0), ptr %".104", align 4
  %".106" = add nsw i64 %".89", 16
  br label %"loop.4"
after.4:
  br label %"loop.5"
loop.5:
  %".109" = phi  i64 [%".87", %"after.4"], [%".124", %"body.5"]
  %".110" = icmp slt i64 %".109", %".75"
  br i1 %".110", label %"body.5", label %"after.5"
body.5:
  %".112" = sub i64 %".75", %".109"
  %".113" = trunc i64 %".112" to i32
  %".114" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".113", i32 0
  %".115" = shufflevector <8 x i32> %".114", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".116" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".115"
  %".117" = mul nsw i64 %".81", 18
  %".118" = add nsw i64 0, %".117"
  %".119" = mul nsw i64 %".109", 1
  %".120" = add nsw i64 %".118", %".119"
  %".121" = getelementptr float, ptr %".24", i64 %".120"
  %".122" = getelementptr float, ptr %".121", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> splat (float              0x0), ptr %".122", i32 4, <8 x i1> %".116")
  %".124" = add nsw i64 %".109", 8
  br label %"loop.5"
after.5:
  %".126" = add nsw i64 %".81", 1
  br label %"loop.3"
loop.6:
  %".129" = phi  i64 [%".69", %"after.3"], [%".174", %"after.8"]
  %".130" = icmp slt i64 %".129", %".70"
  br i1 %".130", label %"body.6", label %"after.6"
body.6:
  %".132" = sub i64 %".79", %".77"
  %".133" = sdiv i64 %".132", 16
  %".134" = mul i64 %".133", 16
  %".135" = add i64 %".77", %".134"
  br label %"loop.7"
after.6:
  %".176" = add i64 0, %".16"
  %".177" = add i64 %".176", 1
  %".178" = add i64 0, 16
  br label %"loop.9"
loop.7:
  %".137" = phi  i64 [%".77", %"body.6"], [%".154", %"body.7"]
  %".138" = icmp slt i64 %".137", %".135"
  br i1 %".138", label %"body.7", label %"after.7"
body.7:
  %".140" = mul nsw i64 %".129", 18
  %".141" = add nsw i64 0, %".140"
  %".142" = mul nsw i64 %".137", 1
  %".143" = add nsw i64 %".141", %".142"
  %".144" = getelementptr float, ptr %".24", i64 %".143"
  %".145" = getelementptr float, ptr %".144", i64 0
  store <8 x float> splat (float              0x0), ptr %".145", align 4
  %".147" = mul nsw i64 %".129", 18
  %".148" = add nsw i64 0, %".147"
  %".149" = mul nsw i64 %".137", 1
  %".150" = add nsw i64 %".148", %".149"
  %".151" = getelementptr float, ptr %".24", i64 %".150"
  %".152" = getelementptr float, ptr %".151", i64 8
  store <8 x float> splat (float              0x0), ptr %".152", align 4
  %".154" = add nsw i64 %".137", 16
  br label %"loop.7"
after.7:
  br label %"loop.8"
loop.8:
  %".157" = phi  i64 [%".135", %"after.7"], [%".172", %"body.8"]
  %".158" = icmp slt i64 %".157", %".79"
  br i1 %".158", label %"body.8", label %"after.8"
body.8:
  %".160" = sub i64 %".79", %".157"
  %".161" = trunc i64 %".160" to i32
  %".162" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".161", i32 0
  %".163" = shufflevector <8 x i32> %".162", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".164" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".163"
  %".165" = mul nsw i64 %".129", 18
  %".166" = add nsw i64 0, %".165"
  %".167" = mul nsw i64 %".157", 1
  %".168" = add nsw i64 %".166", %".167"
  %".169" = getelementptr float, ptr %".24", i64 %".168"
  %".170" = getelementptr float, ptr %".169", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> splat (float              0x0), ptr %".170", i32 4, <8 x i1> %".164")
  %".172" = add nsw i64 %".157", 8
  br label %"loop.8"
after.8:
  %".174" = add nsw i64 %".129", 1
  br label %"loop.6"
loop.9:
  %".180" = phi  i64 [%".176", %"after.6"], [%".245", %"after.10"]
  %".181" = icmp slt i64 %".180", %".177"
  br i1 %".181", label %"body.9", label %"after.9"
body.9:
  %".183" = add i64 0, 16
  br label %"loop.10"
after.9:
  %".247" = add nsw i64 %".13", 1
  br label %"loop"
loop.10:
  %".185" = phi  i64 [0, %"body.9"], [%".243", %"body.10"]
  %".186" = icmp slt i64 %".185", %".183"
  br i1 %".186", label %"body.10", label %"after.10"
body.10:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %".188"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %".190"
  %".192" = mul nsw i64 %".180", 18
  %".193" = add nsw i64 0, %".192"
  %".194" = mul nsw i64 %".185", 1
  %".195" = add nsw i64 %".193", %".194"
  %".196" = getelementptr float, ptr %".24", i64 %".195"
  %".197" = getelementptr float, ptr %".196", i64 0
  %".198" = load <8 x float>, ptr %".197", align 4
  %".199" = load <8 x float>, <8 x float>* %".188"
  %".200" = fadd contract <8 x float> %".199", %".198"
  store <8 x float> %".200", <8 x float>* %".188"
  %".202" = getelementptr float, ptr %".196", i64 8
  %".203" = load <8 x float>, ptr %".202", align 4
  %".204" = load <8 x float>, <8 x float>* %".190"
  %".205" = fadd contract <8 x float> %".204", %".203"
  store <8 x float> %".205", <8 x float>* %".190"
  %".207" = getelementptr float, ptr %".196", i64 1
  %".208" = load <8 x float>, ptr %".207", align 4
  %".209" = load <8 x float>, <8 x float>* %".188"
  %".210" = fadd contract <8 x float> %".209", %".208"
  store <8 x float> %".210", <8 x float>* %".188"
  %".212" = getelementptr float, ptr %".196", i64 9
  %".213" = load <8 x float>, ptr %".212", align 4
  %".214" = load <8 x float>, <8 x float>* %".190"
  %".215" = fadd contract <8 x float> %".214", %".213"
  store <8 x float> %".215", <8 x float>* %".190"
  %".217" = getelementptr float, ptr %".196", i64 2
  %".218" = load <8 x float>, ptr %".217", align 4
  %".219" = load <8 x float>, <8 x float>* %".188"
  %".220" = fadd contract <8 x float> %".219", %".218"
  store <8 x float> %".220", <8 x float>* %".188"
  %".222" = getelementptr float, ptr %".196", i64 10
  %".223" = load <8 x float>, ptr %".222", align 4
  %".224" = load <8 x float>, <8 x float>* %".190"
  %".225" = fadd contract <8 x float> %".224", %".223"
  store <8 x float> %".225", <8 x float>* %".190"
  %".227" = load <8 x float>, <8 x float>* %".188"
  %".228" = load <8 x float>, <8 x float>* %".190"
  %".229" = mul nsw i64 %".180", 16
  %".230" = add nsw i64 0, %".229"
  %".231" = mul nsw i64 %".185", 1
  %".232" = add nsw i64 %".230", %".231"
  %".233" = getelementptr float, ptr %".9", i64 %".232"
  %".234" = getelementptr float, ptr %".233", i64 0
  store <8 x float> %".227", ptr %".234", align 4
  %".236" = mul nsw i64 %".180", 16
  %".237" = add nsw i64 0, %".236"
  %".238" = mul nsw i64 %".185", 1
  %".239" = add nsw i64 %".237", %".238"
  %".240" = getelementptr float, ptr %".9", i64 %".239"
  %".241" = getelementptr float, ptr %".240", i64 8
  store <8 x float> %".228", ptr %".241", align 4
  %".243" = add nsw i64 %".185", 16
  br label %"loop.10"
after.10:
  %".245" = add nsw i64 %".180", 1
  br label %"loop.9"
}

declare void @"llvm.masked.store.v8f32.p0"(<8 x float> %".1", ptr %".2", i32 %".3", <8 x i1> %".4")
