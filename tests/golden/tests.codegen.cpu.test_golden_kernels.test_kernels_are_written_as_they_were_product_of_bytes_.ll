; for cpu: avx2: matmulinteger_2
;   in0 = x: u8[2, 8]
;   in1 = `bytes|y|4 of k0`: i32[2, 16], packed
;   in2 = zero: u8[]
;   in3 = bytes.sums$0: i32[16]
;   out0 = y: i32[2, 16]
;   y: i32[i0=2, i1=16] = sum(k0=8) i32(x[i0, k0]) * i32(bytes[k0, i1]) then acc - i32(zero[]) * bytes.sums$0[i1]  # matmulinteger_2
; loops      y: i0=2 of i0, i1=16 of i1, k0=2 of k0/4, 2 vectors of 8 along i1, 2 of i0 unrolled, k0 unrolled
; schedule   tile 2×16
; launch     tiles 1, scratch_bytes 256
; predicted  1.05 µs, 280 B from and to memory
; ModuleID = "matmulinteger_cbf6e3a7a9ae"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"matmulinteger_cbf6e3a7a9ae"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
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
  %"sum" = alloca <8 x i32>
  %"sum.1" = alloca <8 x i32>
  %"sum.2" = alloca <8 x i32>
  %"sum.3" = alloca <8 x i32>
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i1.after"]
  %".13" = icmp slt i64 %"tile", %"end"
  br i1 %".13", label %"tile.body", label %"tile.after"
tile.body:
  %".15" = add i64 0, 2
  %".16" = add i64 0, 16
  %".17" = add i64 0, 16
  br label %"i1.loop"
tile.after:
  ret void
i1.loop:
  %"i1" = phi  i64 [0, %"tile.body"], [%"i1.next", %"i0.after"]
  %".19" = icmp slt i64 %"i1", %".17"
  br i1 %".19", label %"i1.body", label %"i1.after"
i1.body:
  %".21" = add i64 0, 2
  br label %"i0.loop"
i1.after:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i0.loop:
  %"i0" = phi  i64 [0, %"i1.body"], [%"i0.next", %"i0.body"]
  %".23" = icmp slt i64 %"i0", %".21"
  br i1 %".23", label %"i0.body", label %"i0.after"
i0.body:
  store <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>, <8 x i32>* %"sum"
  store <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>, <8 x i32>* %"sum.1"
  store <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>, <8 x i32>* %"sum.2"
  store <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>, <8 x i32>* %"sum.3"
  %".29" = load <8 x i32>, <8 x i32>* %"sum"
  %".30" = mul nsw i64 %"i0", 2
  %".31" = add nsw i64 0, %".30"
  %".32" = getelementptr i32, ptr %"in0", i64 %".31"
  %"in0.at" = getelementptr i32, ptr %".32", i64 0
  %".34" = load i32, ptr %"in0.at", align 4
  %".35" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".34", i32 0
  %"in0.value" = shufflevector <8 x i32> %".35", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".37" = mul nsw i64 %"i1", 1
  %".38" = add nsw i64 0, %".37"
  %".39" = getelementptr i32, ptr %"in1", i64 %".38"
  %"in1.at" = getelementptr i32, ptr %".39", i64 0
  %"in1.value" = load <8 x i32>, ptr %"in1.at", align 4
  %".42" = call <8 x i32> @"burnish.dot4.i32.8"(<8 x i32> %".29", <8 x i32> %"in0.value", <8 x i32> %"in1.value")
  store <8 x i32> %".42", <8 x i32>* %"sum"
  %".44" = load <8 x i32>, <8 x i32>* %"sum.1"
  %"in1.at.1" = getelementptr i32, ptr %".39", i64 8
  %"in1.value.1" = load <8 x i32>, ptr %"in1.at.1", align 4
  %".47" = call <8 x i32> @"burnish.dot4.i32.8"(<8 x i32> %".44", <8 x i32> %"in0.value", <8 x i32> %"in1.value.1")
  store <8 x i32> %".47", <8 x i32>* %"sum.1"
  %".49" = load <8 x i32>, <8 x i32>* %"sum.2"
  %"in0.at.1" = getelementptr i32, ptr %".32", i64 2
  %".51" = load i32, ptr %"in0.at.1", align 4
  %".52" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".51", i32 0
  %"in0.value.1" = shufflevector <8 x i32> %".52", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".54" = call <8 x i32> @"burnish.dot4.i32.8"(<8 x i32> %".49", <8 x i32> %"in0.value.1", <8 x i32> %"in1.value")
  store <8 x i32> %".54", <8 x i32>* %"sum.2"
  %".56" = load <8 x i32>, <8 x i32>* %"sum.3"
  %".57" = call <8 x i32> @"burnish.dot4.i32.8"(<8 x i32> %".56", <8 x i32> %"in0.value.1", <8 x i32> %"in1.value.1")
  store <8 x i32> %".57", <8 x i32>* %"sum.3"
  %".59" = load <8 x i32>, <8 x i32>* %"sum"
  %"in0.at.2" = getelementptr i32, ptr %".32", i64 1
  %".61" = load i32, ptr %"in0.at.2", align 4
  %".62" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".61", i32 0
  %"in0.value.2" = shufflevector <8 x i32> %".62", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.2" = getelementptr i32, ptr %".39", i64 16
  %"in1.value.2" = load <8 x i32>, ptr %"in1.at.2", align 4
  %".66" = call <8 x i32> @"burnish.dot4.i32.8"(<8 x i32> %".59", <8 x i32> %"in0.value.2", <8 x i32> %"in1.value.2")
  store <8 x i32> %".66", <8 x i32>* %"sum"
  %".68" = load <8 x i32>, <8 x i32>* %"sum.1"
  %"in1.at.3" = getelementptr i32, ptr %".39", i64 24
  %"in1.value.3" = load <8 x i32>, ptr %"in1.at.3", align 4
  %".71" = call <8 x i32> @"burnish.dot4.i32.8"(<8 x i32> %".68", <8 x i32> %"in0.value.2", <8 x i32> %"in1.value.3")
  store <8 x i32> %".71", <8 x i32>* %"sum.1"
  %".73" = load <8 x i32>, <8 x i32>* %"sum.2"
  %"in0.at.3" = getelementptr i32, ptr %".32", i64 3
  %".75" = load i32, ptr %"in0.at.3", align 4
  %".76" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".75", i32 0
  %"in0.value.3" = shufflevector <8 x i32> %".76", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".78" = call <8 x i32> @"burnish.dot4.i32.8"(<8 x i32> %".73", <8 x i32> %"in0.value.3", <8 x i32> %"in1.value.2")
  store <8 x i32> %".78", <8 x i32>* %"sum.2"
  %".80" = load <8 x i32>, <8 x i32>* %"sum.3"
  %".81" = call <8 x i32> @"burnish.dot4.i32.8"(<8 x i32> %".80", <8 x i32> %"in0.value.3", <8 x i32> %"in1.value.3")
  store <8 x i32> %".81", <8 x i32>* %"sum.3"
  %".83" = load <8 x i32>, <8 x i32>* %"sum"
  %".84" = load <8 x i32>, <8 x i32>* %"sum.1"
  %".85" = load <8 x i32>, <8 x i32>* %"sum.2"
  %".86" = load <8 x i32>, <8 x i32>* %"sum.3"
  %".87" = getelementptr i8, ptr %"in2", i64 0
  %"in2.at" = getelementptr i8, ptr %".87", i64 0
  %".89" = load i8, ptr %"in2.at", align 1
  %".90" = insertelement <8 x i8> <i8 undef, i8 undef, i8 undef, i8 undef, i8 undef, i8 undef, i8 undef, i8 undef>, i8 %".89", i32 0
  %"in2.value" = shufflevector <8 x i8> %".90", <8 x i8> <i8 undef, i8 undef, i8 undef, i8 undef, i8 undef, i8 undef, i8 undef, i8 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".92" = zext <8 x i8> %"in2.value" to <8 x i32>
  %".93" = mul nsw i64 %"i1", 1
  %".94" = add nsw i64 0, %".93"
  %".95" = getelementptr i32, ptr %"in3", i64 %".94"
  %"in3.at" = getelementptr i32, ptr %".95", i64 0
  %"in3.value" = load <8 x i32>, ptr %"in3.at", align 4
  %"multiply" = mul <8 x i32> %".92", %"in3.value"
  %"subtract" = sub <8 x i32> %".83", %"multiply"
  %".100" = mul nsw i64 %"i0", 16
  %".101" = add nsw i64 0, %".100"
  %".102" = mul nsw i64 %"i1", 1
  %".103" = add nsw i64 %".101", %".102"
  %".104" = getelementptr i32, ptr %"out0", i64 %".103"
  %"out0.at" = getelementptr i32, ptr %".104", i64 0
  store <8 x i32> %"subtract", ptr %"out0.at", align 4
  %".107" = zext <8 x i8> %"in2.value" to <8 x i32>
  %"in3.at.1" = getelementptr i32, ptr %".95", i64 8
  %"in3.value.1" = load <8 x i32>, ptr %"in3.at.1", align 4
  %"multiply.1" = mul <8 x i32> %".107", %"in3.value.1"
  %"subtract.1" = sub <8 x i32> %".84", %"multiply.1"
  %".112" = mul nsw i64 %"i0", 16
  %".113" = add nsw i64 0, %".112"
  %".114" = mul nsw i64 %"i1", 1
  %".115" = add nsw i64 %".113", %".114"
  %".116" = getelementptr i32, ptr %"out0", i64 %".115"
  %"out0.at.1" = getelementptr i32, ptr %".116", i64 8
  store <8 x i32> %"subtract.1", ptr %"out0.at.1", align 4
  %".119" = zext <8 x i8> %"in2.value" to <8 x i32>
  %"multiply.2" = mul <8 x i32> %".119", %"in3.value"
  %"subtract.2" = sub <8 x i32> %".85", %"multiply.2"
  %".122" = mul nsw i64 %"i0", 16
  %".123" = add nsw i64 0, %".122"
  %".124" = mul nsw i64 %"i1", 1
  %".125" = add nsw i64 %".123", %".124"
  %".126" = getelementptr i32, ptr %"out0", i64 %".125"
  %"out0.at.2" = getelementptr i32, ptr %".126", i64 16
  store <8 x i32> %"subtract.2", ptr %"out0.at.2", align 4
  %".129" = zext <8 x i8> %"in2.value" to <8 x i32>
  %"multiply.3" = mul <8 x i32> %".129", %"in3.value.1"
  %"subtract.3" = sub <8 x i32> %".86", %"multiply.3"
  %".132" = mul nsw i64 %"i0", 16
  %".133" = add nsw i64 0, %".132"
  %".134" = mul nsw i64 %"i1", 1
  %".135" = add nsw i64 %".133", %".134"
  %".136" = getelementptr i32, ptr %"out0", i64 %".135"
  %"out0.at.3" = getelementptr i32, ptr %".136", i64 24
  store <8 x i32> %"subtract.3", ptr %"out0.at.3", align 4
  %"i0.next" = add nsw i64 %"i0", 2
  br label %"i0.loop"
i0.after:
  %"i1.next" = add nsw i64 %"i1", 16
  br label %"i1.loop"
}

declare <8 x i32> @"burnish.dot4.i32.8"(<8 x i32> %".1", <8 x i32> %".2", <8 x i32> %".3")
