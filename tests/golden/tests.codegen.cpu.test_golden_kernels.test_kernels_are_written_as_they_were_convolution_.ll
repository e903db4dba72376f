; for cpu: avx2: conv_2
;   in0 = x: f32[1, 2, 4, 9]
;   in1 = filters: f32[2, 2, 2, 2]
;   out0 = y: f32[1, 2, 3, 8]
;   y: f32[i0=1, i1=2, i2=3, i3=8] = sum(k0=2, k1=2, k2=2) x[0, k0, i2 + k1, i3 + k2] * filters[i1, k0, k1, k2]  # conv_2
; loops      y: i0=2 of i1, i1=3 of i2, i2=8 of i3, k0=2 of k0, k1=2 of k1, k2=2 of k2, 1 vectors of 8 along i2, 2 of i0 unrolled, k0 unrolled, k1 unrolled, k2 unrolled
; schedule   tile 1×2×3×8
; launch     tiles 1, scratch_bytes 256
; predicted  1.06 µs, 272 B from and to memory
; ModuleID = "conv_2e2ba29438f6"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"conv_2e2ba29438f6"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
{
entry:
  %".6" = getelementptr ptr, ptr %"arguments", i64 0
  %"in0" = load ptr, ptr %".6"
  %".7" = getelementptr ptr, ptr %"arguments", i64 1
  %"in1" = load ptr, ptr %".7"
  %".8" = getelementptr ptr, ptr %"arguments", i64 2
  %"out0" = load ptr, ptr %".8"
  %"sum" = alloca <8 x float>
  %"sum.1" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i1.after"]
  %".11" = icmp slt i64 %"tile", %"end"
  br i1 %".11", label %"tile.body", label %"tile.after"
tile.body:
  %".13" = add i64 0, 1
  %".14" = add i64 0, 2
  %".15" = add i64 0, 3
  %".16" = add i64 0, 8
  br label %"i1.loop"
tile.after:
  ret void
i1.loop:
  %"i1" = phi  i64 [0, %"tile.body"], [%"i1.next", %"i2.after"]
  %".18" = icmp slt i64 %"i1", %".15"
  br i1 %".18", label %"i1.body", label %"i1.after"
i1.body:
  %".20" = add i64 0, 8
  br label %"i2.loop"
i1.after:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i2.loop:
  %"i2" = phi  i64 [0, %"i1.body"], [%"i2.next", %"i0.after"]
  %".22" = icmp slt i64 %"i2", %".20"
  br i1 %".22", label %"i2.body", label %"i2.after"
i2.body:
  %".24" = add i64 0, 2
  br label %"i0.loop"
i2.after:
  %"i1.next" = add nsw i64 %"i1", 1
  br label %"i1.loop"
i0.loop:
  %"i0" = phi  i64 [0, %"i2.body"], [%"i0.next", %"i0.body"]
  %".26" = icmp slt i64 %"i0", %".24"
  br i1 %".26", label %"i0.body", label %"i0.after"
i0.body:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.1"
  %".30" = mul nsw i64 %"i1", 9
  %".31" = add nsw i64 0, %".30"
  %".32" = mul nsw i64 %"i2", 1
  %".33" = add nsw i64 %".31", %".32"
  %".34" = getelementptr float, ptr %"in0", i64 %".33"
  %"in0.at" = getelementptr float, ptr %".34", i64 0
  %"in0.value" = load <8 x float>, ptr %"in0.at", align 4
  %".37" = mul nsw i64 %"i0", 8
  %".38" = add nsw i64 0, %".37"
  %".39" = getelementptr float, ptr %"in1", i64 %".38"
  %"in1.at" = getelementptr float, ptr %".39", i64 0
  %".41" = load float, ptr %"in1.at", align 4
  %".42" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".41", i32 0
  %"in1.value" = shufflevector <8 x float> %".42", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply" = fmul contract <8 x float> %"in0.value", %"in1.value"
  %".45" = load <8 x float>, <8 x float>* %"sum"
  %"add" = fadd contract <8 x float> %".45", %"multiply"
  store <8 x float> %"add", <8 x float>* %"sum"
  %"in1.at.1" = getelementptr float, ptr %".39", i64 8
  %".49" = load float, ptr %"in1.at.1", align 4
  %".50" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".49", i32 0
  %"in1.value.1" = shufflevector <8 x float> %".50", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.1" = fmul contract <8 x float> %"in0.value", %"in1.value.1"
  %".53" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.1" = fadd contract <8 x float> %".53", %"multiply.1"
  store <8 x float> %"add.1", <8 x float>* %"sum.1"
  %"in0.at.1" = getelementptr float, ptr %".34", i64 1
  %"in0.value.1" = load <8 x float>, ptr %"in0.at.1", align 4
  %"in1.at.2" = getelementptr float, ptr %".39", i64 1
  %".59" = load float, ptr %"in1.at.2", align 4
  %".60" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".59", i32 0
  %"in1.value.2" = shufflevector <8 x float> %".60", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.2" = fmul contract <8 x float> %"in0.value.1", %"in1.value.2"
  %".63" = load <8 x float>, <8 x float>* %"sum"
  %"add.2" = fadd contract <8 x float> %".63", %"multiply.2"
  store <8 x float> %"add.2", <8 x float>* %"sum"
  %"in1.at.3" = getelementptr float, ptr %".39", i64 9
  %".67" = load float, ptr %"in1.at.3", align 4
  %".68" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".67", i32 0
  %"in1.value.3" = shufflevector <8 x float> %".68", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.3" = fmul contract <8 x float> %"in0.value.1", %"in1.value.3"
  %".71" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.3" = fadd contract <8 x float> %".71", %"multiply.3"
  store <8 x float> %"add.3", <8 x float>* %"sum.1"
  %"in0.at.2" = getelementptr float, ptr %".34", i64 9
  %"in0.value.2" = load <8 x float>, ptr %"in0.at.2", align 4
  %"in1.at.4" = getelementptr float, ptr %".39", i64 2
  %".77" = load float, ptr %"in1.at.4", align 4
  %".78" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".77", i32 0
  %"in1.value.4" = shufflevector <8 x float> %".78", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.4" = fmul contract <8 x float> %"in0.value.2", %"in1.value.4"
  %".81" = load <8 x float>, <8 x float>* %"sum"
  %"add.4" = fadd contract <8 x float> %".81", %"multiply.4"
  store <8 x float> %"add.4", <8 x float>* %"sum"
  %"in1.at.5" = getelementptr float, ptr %".39", i64 10
  %".85" = load float, ptr %"in1.at.5", align 4
  %".86" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".85", i32 0
  %"in1.value.5" = shufflevector <8 x float> %".86", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.5" = fmul contract <8 x float> %"in0.value.2", %"in1.value.5"
  %".89" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.5" = fadd contract <8 x float> %".89", %"multiply.5"
  store <8 x float> %"add.5", <8 x float>* %"sum.1"
  %"in0.at.3" = getelementptr float, ptr %".34", i64 10
  %"in0.value.3" = load <8 x float>, ptr %"in0.at.3", align 4
  %"in1.at.6" = getelementptr float, ptr %".39", i64 3
  %".95" = load float, ptr %"in1.at.6", align 4
  %".96" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".95", i32 0
  %"in1.value.6" = shufflevector <8 x float> %".96", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.6" = fmul contract <8 x float> %"in0.value.3", %"in1.value.6"
  %".99" = load <8 x float>, <8 x float>* %"sum"
  %"add.6" = fadd contract <8 x float> %".99", %"multiply.6"
  store <8 x float> %"add.6", <8 x float>* %"sum"
  %"in1.at.7" = getelementptr float, ptr %".39", i64 11
  %".103" = load float, ptr %"in1.at.7", align 4
  %".104" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".103", i32 0
  %"in1.value.7" = shufflevector <8 x float> %".104", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.7" = fmul contract <8 x float> %"in0.value.3", %"in1.value.7"
  %".107" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.7" = fadd contract <8 x float> %".107", %"multiply.7"
  store <8 x float> %"add.7", <8 x float>* %"sum.1"
  %"in0.at.4" = getelementptr float, ptr %".34", i64 36
  %"in0.value.4" = load <8 x float>, ptr %"in0.at.4", align 4
  %"in1.at.8" = getelementptr float, ptr %".39", i64 4
  %".113" = load float, ptr %"in1.at.8", align 4
  %".114" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".113", i32 0
  %"in1.value.8" = shufflevector <8 x float> %".114", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.8" = fmul contract <8 x float> %"in0.value.4", %"in1.value.8"
  %".117" = load <8 x float>, <8 x float>* %"sum"
  %"add.8" = fadd contract <8 x float> %".117", %"multiply.8"
  store <8 x float> %"add.8", <8 x float>* %"sum"
  %"in1.at.9" = getelementptr float, ptr %".39", i64 12
  %".121" = load float, ptr %"in1.at.9", align 4
  %".122" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".121", i32 0
  %"in1.value.9" = shufflevector <8 x float> %".122", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.9" = fmul contract <8 x float> %"in0.value.4", %"in1.value.9"
  %".125" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.9" = fadd contract <8 x float> %".125", %"multiply.9"
  store <8 x float> %"add.9", <8 x float>* %"sum.1"
  %"in0.at.5" = getelementptr float, ptr %".34", i64 37
  %"in0.value.5" = load <8 x float>, ptr %"in0.at.5", align 4
  %"in1.at.10" = getelementptr float, ptr %".39", i64 5
  %".131" = load float, ptr %"in1.at.10", align 4
  %".132" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".131", i32 0
  %"in1.value.10" = shufflevector <8 x float> %".132", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.10" = fmul contract <8 x float> %"in0.value.5", %"in1.value.10"
  %".135" = load <8 x float>, <8 x float>* %"sum"
  %"add.10" = fadd contract <8 x float> %".135", %"multiply.10"
  store <8 x float> %"add.10", <8 x float>* %"sum"
  %"in1.at.11" = getelementptr float, ptr %".39", i64 13
  %".139" = load float, ptr %"in1.at.11", align 4
  %".140" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".139", i32 0
  %"in1.value.11" = shufflevector <8 x float> %".140", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.11" = fmul contract <8 x float> %"in0.value.5", %"in1.value.11"
  %".143" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.11" = fadd contract <8 x float> %".143", %"multiply.11"
  store <8 x float> %"add.11", <8 x float>* %"sum.1"
  %"in0.at.6" = getelementptr float, ptr %".34", i64 45
  %"in0.value.6" = load <8 x float>, ptr %"in0.at.6", align 4
  %"in1.at.12" = getelementptr float, ptr %".39", i64 6
  %".149" = load float, ptr %"in1.at.12", align 4
  %".150" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".149", i32 0
  %"in1.value.12" = shufflevector <8 x float> %".150", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.12" = fmul contract <8 x float> %"in0.value.6", %"in1.value.12"
  %".153" = load <8 x float>, <8 x float>* %"sum"
  %"add.12" = fadd contract <8 x float> %".153", %"multiply.12"
  store <8 x float> %"add.12", <8 x float>* %"sum"
  %"in1.at.13" = getelementptr float, ptr %".39", i64 14
  %".157" = load float, ptr %"in1.at.13", align 4
  %".158" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".157", i32 0
  %"in1.value.13" = shufflevector <8 x float> %".158", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.13" = fmul contract <8 x float> %"in0.value.6", %"in1.value.13"
  %".161" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.13" = fadd contract <8 x float> %".161", %"multiply.13"
  store <8 x float> %"add.13", <8 x float>* %"sum.1"
  %"in0.at.7" = getelementptr float, ptr %".34", i64 46
  %"in0.value.7" = load <8 x float>, ptr %"in0.at.7", align 4
  %"in1.at.14" = getelementptr float, ptr %".39", i64 7
  %".167" = load float, ptr %"in1.at.14", align 4
  %".168" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".167", i32 0
  %"in1.value.14" = shufflevector <8 x float> %".168", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.14" = fmul contract <8 x float> %"in0.value.7", %"in1.value.14"
  %".171" = load <8 x float>, <8 x float>* %"sum"
  %"add.14" = fadd contract <8 x float> %".171", %"multiply.14"
  store <8 x float> %"add.14", <8 x float>* %"sum"
  %"in1.at.15" = getelementptr float, ptr %".39", i64 15
  %".175" = load float, ptr %"in1.at.15", align 4
  %".176" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".175", i32 0
  %"in1.value.15" = shufflevector <8 x float> %".176", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.15" = fmul contract <8 x float> %"in0.value.7", %"in1.value.15"
  %".179" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.15" = fadd contract <8 x float> %".179", %"multiply.15"
  store <8 x float> %"add.15", <8 x float>* %"sum.1"
  %".182" = load <8 x float>, <8 x float>* %"sum"
  %".183" = load <8 x float>, <8 x float>* %"sum.1"
  %".184" = mul nsw i64 %"i0", 24
  %".185" = add nsw i64 0, %".184"
  %".186" = mul nsw i64 %"i1", 8
  %".187" = add nsw i64 %".185", %".186"
  %".188" = mul nsw i64 %"i2", 1
  %".189" = add nsw i64 %".187", %".188"
  %".190" = getelementptr float, ptr %"out0", i64 %".189"
  %"out0.at" = getelementptr float, ptr %".190", i64 0
  store <8 x float> %".182", ptr %"out0.at", align 4
  %".193" = mul nsw i64 %"i0", 24
  %".194" = add nsw i64 0, %".193"
  %".195" = mul nsw i64 %"i1", 8
  %".196" = add nsw i64 %".194", %".195"
  %".197" = mul nsw i64 %"i2", 1
  %".198" = add nsw i64 %".196", %".197"
  %".199" = getelementptr float, ptr %"out0", i64 %".198"
  %"out0.at.1" = getelementptr float, ptr %".199", i64 24
  store <8 x float> %".183", ptr %"out0.at.1", align 4
  %"i0.next" = add nsw i64 %"i0", 2
  br label %"i0.loop"
i0.after:
  %"i2.next" = add nsw i64 %"i2", 8
  br label %"i2.loop"
}
