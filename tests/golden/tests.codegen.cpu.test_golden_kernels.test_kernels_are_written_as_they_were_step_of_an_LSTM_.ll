; for cpu: avx2: lstm_2
;   in0 = x: f32[3, 1, 4]
;   in1 = `inner.0$0|y$inputs.0$0|i2:32`: f32[1, 4, 32], packed
;   in2 = y$bias.0$0: f32[32]
;   out0 = y$inputs.0$0: f32[3, 1, 32]
;   y$inputs.0$0: f32[i0=3, i1=1, i2=32] = sum(k0=4) x[i0, 0, k0] * inner.0$0[i2, k0] then acc + y$bias.0$0[i2]  # lstm_2
; loops      y$inputs.0$0: i0=3 of i0, i1=32 of i2, k0=4 of k0, 4 vectors of 8 along i1, 2 of i0 unrolled, k0 unrolled
; schedule   tile 3×1×32
; launch     tiles 1, scratch_bytes 256
; predicted  1.06 µs, 552 B from and to memory
; ModuleID = "lstm_109878d2a0f1"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"lstm_109878d2a0f1"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
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
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i1.after"]
  %".12" = icmp slt i64 %"tile", %"end"
  br i1 %".12", label %"tile.body", label %"tile.after"
tile.body:
  %".14" = add i64 0, 3
  %".15" = add i64 0, 1
  %".16" = add i64 0, 32
  %".17" = add i64 0, 32
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
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.1"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.2"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.3"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.4"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.5"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.6"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.7"
  %".33" = mul nsw i64 %"i0", 4
  %".34" = add nsw i64 0, %".33"
  %".35" = getelementptr float, ptr %"in0", i64 %".34"
  %"in0.at" = getelementptr float, ptr %".35", i64 0
  %".37" = load float, ptr %"in0.at", align 4
  %".38" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".37", i32 0
  %"in0.value" = shufflevector <8 x float> %".38", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".40" = udiv i64 %"i1", 32
  %".41" = urem i64 %"i1", 32
  %".42" = mul i64 %".40", 128
  %".43" = add i64 0, %".42"
  %".44" = add i64 %".43", %".41"
  %".45" = getelementptr float, ptr %"in1", i64 %".44"
  %"in1.at" = getelementptr float, ptr %".45", i64 0
  %"in1.value" = load <8 x float>, ptr %"in1.at", align 4
  %"multiply" = fmul contract <8 x float> %"in0.value", %"in1.value"
  %".49" = load <8 x float>, <8 x float>* %"sum"
  %"add" = fadd contract <8 x float> %".49", %"multiply"
  store <8 x float> %"add", <8 x float>* %"sum"
  %"in1.at.1" = getelementptr float, ptr %".45", i64 8
  %"in1.value.1" = load <8 x float>, ptr %"in1.at.1", align 4
  %"multiply.1" = fmul contract <8 x float> %"in0.value", %"in1.value.1"
  %".55" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.1" = fadd contract <8 x float> %".55", %"multiply.1"
  store <8 x float> %"add.1", <8 x float>* %"sum.1"
  %"in1.at.2" = getelementptr float, ptr %".45", i64 16
  %"in1.value.2" = load <8 x float>, ptr %"in1.at.2", align 4
  %"multiply.2" = fmul contract <8 x float> %"in0.value", %"in1.value.2"
  %".61" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.2" = fadd contract <8 x float> %".61", %"multiply.2"
  store <8 x float> %"add.2", <8 x float>* %"sum.2"
  %"in1.at.3" = getelementptr float, ptr %".45", i64 24
  %"in1.value.3" = load <8 x float>, ptr %"in1.at.3", align 4
  %"multiply.3" = fmul contract <8 x float> %"in0.value", %"in1.value.3"
  %".67" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.3" = fadd contract <8 x float> %".67", %"multiply.3"
  store <8 x float> %"add.3", <8 x float>* %"sum.3"
  %"in0.at.1" = getelementptr float, ptr %".35", i64 4
  %".71" = load float, ptr %"in0.at.1", align 4
  %".72" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".71", i32 0
  %"in0.value.1" = shufflevector <8 x float> %".72", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.4" = fmul contract <8 x float> %"in0.value.1", %"in1.value"
  %".75" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.4" = fadd contract <8 x float> %".75", %"multiply.4"
  store <8 x float> %"add.4", <8 x float>* %"sum.4"
  %"multiply.5" = fmul contract <8 x float> %"in0.value.1", %"in1.value.1"
  %".79" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.5" = fadd contract <8 x float> %".79", %"multiply.5"
  store <8 x float> %"add.5", <8 x float>* %"sum.5"
  %"multiply.6" = fmul contract <8 x float> %"in0.value.1", %"in1.value.2"
  %".83" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.6" = fadd contract <8 x float> %".83", %"multiply.6"
  store <8 x float> %"add.6", <8 x float>* %"sum.6"
  %"multiply.7" = fmul contract <8 x float> %"in0.value.1", %"in1.value.3"
  %".87" = load <8 x float>, <8 x float>* %"sum.7"
  %"add.7" = fadd contract <8 x float> %".87", %"multiply.7"
  store <8 x float> %"add.7", <8 x float>* %"sum.7"
  %"in0.at.2" = getelementptr float, ptr %".35", i64 1
  %".91" = load float, ptr %"in0.at.2", align 4
  %".92" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".91", i32 0
  %"in0.value.2" = shufflevector <8 x float> %".92", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.4" = getelementptr float, ptr %".45", i64 32
  %"in1.value.4" = load <8 x float>, ptr %"in1.at.4", align 4
  %"multiply.8" = fmul contract <8 x float> %"in0.value.2", %"in1.value.4"
  %".97" = load <8 x float>, <8 x float>* %"sum"
  %"add.8" = fadd contract <8 x float> %".97", %"multiply.8"
  store <8 x float> %"add.8", <8 x float>* %"sum"
  %"in1.at.5" = getelementptr float, ptr %".45", i64 40
  %"in1.value.5" = load <8 x float>, ptr %"in1.at.5", align 4
  %"multiply.9" = fmul contract <8 x float> %"in0.value.2", %"in1.value.5"
  %".103" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.9" = fadd contract <8 x float> %".103", %"multiply.9"
  store <8 x float> %"add.9", <8 x float>* %"sum.1"
  %"in1.at.6" = getelementptr float, ptr %".45", i64 48
  %"in1.value.6" = load <8 x float>, ptr %"in1.at.6", align 4
  %"multiply.10" = fmul contract <8 x float> %"in0.value.2", %"in1.value.6"
  %".109" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.10" = fadd contract <8 x float> %".109", %"multiply.10"
  store <8 x float> %"add.10", <8 x float>* %"sum.2"
  %"in1.at.7" = getelementptr float, ptr %".45", i64 56
  %"in1.value.7" = load <8 x float>, ptr %"in1.at.7", align 4
  %"multiply.11" = fmul contract <8 x float> %"in0.value.2", %"in1.value.7"
  %".115" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.11" = fadd contract <8 x float> %".115", %"multiply.11"
  store <8 x float> %"add.11", <8 x float>* %"sum.3"
  %"in0.at.3" = getelementptr float, ptr %".35", i64 5
  %".119" = load float, ptr %"in0.at.3", align 4
  %".120" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".119", i32 0
  %"in0.value.3" = shufflevector <8 x float> %".120", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.12" = fmul contract <8 x float> %"in0.value.3", %"in1.value.4"
  %".123" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.12" = fadd contract <8 x float> %".123", %"multiply.12"
  store <8 x float> %"add.12", <8 x float>* %"sum.4"
  %"multiply.13" = fmul contract <8 x float> %"in0.value.3", %"in1.value.5"
  %".127" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.13" = fadd contract <8 x float> %".127", %"multiply.13"
  store <8 x float> %"add.13", <8 x float>* %"sum.5"
  %"multiply.14" = fmul contract <8 x float> %"in0.value.3", %"in1.value.6"
  %".131" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.14" = fadd contract <8 x float> %".131", %"multiply.14"
  store <8 x float> %"add.14", <8 x float>* %"sum.6"
  %"multiply.15" = fmul contract <8 x float> %"in0.value.3", %"in1.value.7"
  %".135" = load <8 x float>, <8 x float>* %"sum.7"
  %"add.15" = fadd contract <8 x float> %".135", %"multiply.15"
  store <8 x float> %"add.15", <8 x float>* %"sum.7"
  %"in0.at.4" = getelementptr float, ptr %".35", i64 2
  %".139" = load float, ptr %"in0.at.4", align 4
  %".140" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".139", i32 0
  %"in0.value.4" = shufflevector <8 x float> %".140", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.8" = getelementptr float, ptr %".45", i64 64
  %"in1.value.8" = load <8 x float>, ptr %"in1.at.8", align 4
  %"multiply.16" = fmul contract <8 x float> %"in0.value.4", %"in1.value.8"
  %".145" = load <8 x float>, <8 x float>* %"sum"
  %"add.16" = fadd contract <8 x float> %".145", %"multiply.16"
  store <8 x float> %"add.16", <8 x float>* %"sum"
  %"in1.at.9" = getelementptr float, ptr %".45", i64 72
  %"in1.value.9" = load <8 x float>, ptr %"in1.at.9", align 4
  %"multiply.17" = fmul contract <8 x float> %"in0.value.4", %"in1.value.9"
  %".151" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.17" = fadd contract <8 x float> %".151", %"multiply.17"
  store <8 x float> %"add.17", <8 x float>* %"sum.1"
  %"in1.at.10" = getelementptr float, ptr %".45", i64 80
  %"in1.value.10" = load <8 x float>, ptr %"in1.at.10", align 4
  %"multiply.18" = fmul contract <8 x float> %"in0.value.4", %"in1.value.10"
  %".157" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.18" = fadd contract <8 x float> %".157", %"multiply.18"
  store <8 x float> %"add.18", <8 x float>* %"sum.2"
  %"in1.at.11" = getelementptr float, ptr %".45", i64 88
  %"in1.value.11" = load <8 x float>, ptr %"in1.at.11", align 4
  %"multiply.19" = fmul contract <8 x float> %"in0.value.4", %"in1.value.11"
  %".163" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.19" = fadd contract <8 x float> %".163", %"multiply.19"
  store <8 x float> %"add.19", <8 x float>* %"sum.3"
  %"in0.at.5" = getelementptr float, ptr %".35", i64 6
  %".167" = load float, ptr %"in0.at.5", align 4
  %".168" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".167", i32 0
  %"in0.value.5" = shufflevector <8 x float> %".168", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.20" = fmul contract <8 x float> %"in0.value.5", %"in1.value.8"
  %".171" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.20" = fadd contract <8 x float> %".171", %"multiply.20"
  store <8 x float> %"add.20", <8 x float>* %"sum.4"
  %"multiply.21" = fmul contract <8 x float> %"in0.value.5", %"in1.value.9"
  %".175" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.21" = fadd contract <8 x float> %".175", %"multiply.21"
  store <8 x float> %"add.21", <8 x float>* %"sum.5"
  %"multiply.22" = fmul contract <8 x float> %"in0.value.5", %"in1.value.10"
  %".179" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.22" = fadd contract <8 x float> %".179", %"multiply.22"
  store <8 x float> %"add.22", <8 x float>* %"sum.6"
  %"multiply.23" = fmul contract <8 x float> %"in0.value.5", %"in1.value.11"
  %".183" = load <8 x float>, <8 x float>* %"sum.7"
  %"add.23" = fadd contract <8 x float> %".183", %"multiply.23"
  store <8 x float> %"add.23", <8 x float>* %"sum.7"
  %"in0.at.6" = getelementptr float, ptr %".35", i64 3
  %".187" = load float, ptr %"in0.at.6", align 4
  %".188" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".187", i32 0
  %"in0.value.6" = shufflevector <8 x float> %".188", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.12" = getelementptr float, ptr %".45", i64 96
  %"in1.value.12" = load <8 x float>, ptr %"in1.at.12", align 4
  %"multiply.24" = fmul contract <8 x float> %"in0.value.6", %"in1.value.12"
  %".193" = load <8 x float>, <8 x float>* %"sum"
  %"add.24" = fadd contract <8 x float> %".193", %"multiply.24"
  store <8 x float> %"add.24", <8 x float>* %"sum"
  %"in1.at.13" = getelementptr float, ptr %".45", i64 104
  %"in1.value.13" = load <8 x float>, ptr %"in1.at.13", align 4
  %"multiply.25" = fmul contract <8 x float> %"in0.value.6", %"in1.value.13"
  %".199" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.25" = fadd contract <8 x float> %".199", %"multiply.25"
  store <8 x float> %"add.25", <8 x float>* %"sum.1"
  %"in1.at.14" = getelementptr float, ptr %".45", i64 112
  %"in1.value.14" = load <8 x float>, ptr %"in1.at.14", align 4
  %"multiply.26" = fmul contract <8 x float> %"in0.value.6", %"in1.value.14"
  %".205" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.26" = fadd contract <8 x float> %".205", %"multiply.26"
  store <8 x float> %"add.26", <8 x float>* %"sum.2"
  %"in1.at.15" = getelementptr float, ptr %".45", i64 120
  %"in1.value.15" = load <8 x float>, ptr %"in1.at.15", align 4
  %"multiply.27" = fmul contract <8 x float> %"in0.value.6", %"in1.value.15"
  %".211" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.27" = fadd contract <8 x float> %".211", %"multiply.27"
  store <8 x float> %"add.27", <8 x float>* %"sum.3"
  %"in0.at.7" = getelementptr float, ptr %".35", i64 7
  %".215" = load float, ptr %"in0.at.7", align 4
  %".216" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".215", i32 0
  %"in0.value.7" = shufflevector <8 x float> %".216", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"multiply.28" = fmul contract <8 x float> %"in0.value.7", %"in1.value.12"
  %".219" = load <8 x float>, <8 x float>* %"sum.4"
  %"add.28" = fadd contract <8 x float> %".219", %"multiply.28"
  store <8 x float> %"add.28", <8 x float>* %"sum.4"
  %"multiply.29" = fmul contract <8 x float> %"in0.value.7", %"in1.value.13"
  %".223" = load <8 x float>, <8 x float>* %"sum.5"
  %"add.29" = fadd contract <8 x float> %".223", %"multiply.29"
  store <8 x float> %"add.29", <8 x float>* %"sum.5"
  %"multiply.30" = fmul contract <8 x float> %"in0.value.7", %"in1.value.14"
  %".227" = load <8 x float>, <8 x float>* %"sum.6"
  %"add.30" = fadd contract <8 x float> %".227", %"multiply.30"
  store <8 x float> %"add.30", <8 x float>* %"sum.6"
  %"multiply.31" = fmul contract <8 x float> %"in0.value.7", %"in1.value.15"
  %".231" = load <8 x float>, <8 x float>* %"sum.7"
  %"add.31" = fadd contract <8 x float> %".231", %"multiply.31"
  store <8 x float> %"add.31", <8 x float>* %"sum.7"
  %".234" = load <8 x float>, <8 x float>* %"sum"
  %".235" = load <8 x float>, <8 x float>* %"sum.1"
  %".236" = load <8 x float>, <8 x float>* %"sum.2"
  %".237" = load <8 x float>, <8 x float>* %"sum.3"
  %".238" = load <8 x float>, <8 x float>* %"sum.4"
  %".239" = load <8 x float>, <8 x float>* %"sum.5"
  %".240" = load <8 x float>, <8 x float>* %"sum.6"
  %".241" = load <8 x float>, <8 x float>* %"sum.7"
  %".242" = mul nsw i64 %"i1", 1
  %".243" = add nsw i64 0, %".242"
  %".244" = getelementptr float, ptr %"in2", i64 %".243"
  %"in2.at" = getelementptr float, ptr %".244", i64 0
  %"in2.value" = load <8 x float>, ptr %"in2.at", align 4
  %"add.32" = fadd contract <8 x float> %".234", %"in2.value"
  %".248" = mul nsw i64 %"i0", 32
  %".249" = add nsw i64 0, %".248"
  %".250" = mul nsw i64 %"i1", 1
  %".251" = add nsw i64 %".249", %".250"
  %".252" = getelementptr float, ptr %"out0", i64 %".251"
  %"out0.at" = getelementptr float, ptr %".252", i64 0
  store <8 x float> %"add.32", ptr %"out0.at", align 4
  %"in2.at.1" = getelementptr float, ptr %".244", i64 8
  %"in2.value.1" = load <8 x float>, ptr %"in2.at.1", align 4
  %"add.33" = fadd contract <8 x float> %".235", %"in2.value.1"
  %".258" = mul nsw i64 %"i0", 32
  %".259" = add nsw i64 0, %".258"
  %".260" = mul nsw i64 %"i1", 1
  %".261" = add nsw i64 %".259", %".260"
  %".262" = getelementptr float, ptr %"out0", i64 %".261"
  %"out0.at.1" = getelementptr float, ptr %".262", i64 8
  store <8 x float> %"add.33", ptr %"out0.at.1", align 4
  %"in2.at.2" = getelementptr float, ptr %".244", i64 16
  %"in2.value.2" = load <8 x float>, ptr %"in2.at.2", align 4
  %"add.34" = fadd contract <8 x float> %".236", %"in2.value.2"
  %".268" = mul nsw i64 %"i0", 32
  %".269" = add nsw i64 0, %".268"
  %".270" = mul nsw i64 %"i1", 1
  %".271" = add nsw i64 %".269", %".270"
  %".272" = getelementptr float, ptr %"out0", i64 %".271"
  %"out0.at.2" = getelementptr float, ptr %".272", i64 16
  store <8 x float> %"add.34", ptr %"out0.at.2", align 4
  %"in2.at.3" = getelementptr float, ptr %".244", i64 24
  %"in2.value.3" = load <8 x float>, ptr %"in2.at.3", align 4
  %"add.35" = fadd contract <8 x float> %".237", %"in2.value.3"
  %".278" = mul nsw i64 %"i0", 32
  %".279" = add nsw i64 0, %".278"
  %".280" = mul nsw i64 %"i1", 1
  %".281" = add nsw i64 %".279", %".280"
  %".282" = getelementptr float, ptr %"out0", i64 %".281"
  %"out0.at.3" = getelementptr float, ptr %".282", i64 24
  store <8 x float> %"add.35", ptr %"out0.at.3", align 4
  %"add.36" = fadd contract <8 x float> %".238", %"in2.value"
  %".286" = mul nsw i64 %"i0", 32
  %".287" = add nsw i64 0, %".286"
  %".288" = mul nsw i64 %"i1", 1
  %".289" = add nsw i64 %".287", %".288"
  %".290" = getelementptr float, ptr %"out0", i64 %".289"
  %"out0.at.4" = getelementptr float, ptr %".290", i64 32
  store <8 x float> %"add.36", ptr %"out0.at.4", align 4
  %"add.37" = fadd contract <8 x float> %".239", %"in2.value.1"
  %".294" = mul nsw i64 %"i0", 32
  %".295" = add nsw i64 0, %".294"
  %".296" = mul nsw i64 %"i1", 1
  %".297" = add nsw i64 %".295", %".296"
  %".298" = getelementptr float, ptr %"out0", i64 %".297"
  %"out0.at.5" = getelementptr float, ptr %".298", i64 40
  store <8 x float> %"add.37", ptr %"out0.at.5", align 4
  %"add.38" = fadd contract <8 x float> %".240", %"in2.value.2"
  %".302" = mul nsw i64 %"i0", 32
  %".303" = add nsw i64 0, %".302"
  %".304" = mul nsw i64 %"i1", 1
  %".305" = add nsw i64 %".303", %".304"
  %".306" = getelementptr float, ptr %"out0", i64 %".305"
  %"out0.at.6" = getelementptr float, ptr %".306", i64 48
  store <8 x float> %"add.38", ptr %"out0.at.6", align 4
  %"add.39" = fadd contract <8 x float> %".241", %"in2.value.3"
  %".310" = mul nsw i64 %"i0", 32
  %".311" = add nsw i64 0, %".310"
  %".312" = mul nsw i64 %"i1", 1
  %".313" = add nsw i64 %".311", %".312"
  %".314" = getelementptr float, ptr %"out0", i64 %".313"
  %"out0.at.7" = getelementptr float, ptr %".314", i64 56
  store <8 x float> %"add.39", ptr %"out0.at.7", align 4
  %"i0.next" = add nsw i64 %"i0", 2
  br label %"i0.loop"
i0.after:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.8"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.9"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.10"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.11"
  %".322" = mul nsw i64 %".21", 4
  %".323" = add nsw i64 0, %".322"
  %".324" = getelementptr float, ptr %"in0", i64 %".323"
  %"in0.at.8" = getelementptr float, ptr %".324", i64 0
  %".326" = load float, ptr %"in0.at.8", align 4
  %".327" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".326", i32 0
  %"in0.value.8" = shufflevector <8 x float> %".327", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".329" = udiv i64 %"i1", 32
  %".330" = urem i64 %"i1", 32
  %".331" = mul i64 %".329", 128
  %".332" = add i64 0, %".331"
  %".333" = add i64 %".332", %".330"
  %".334" = getelementptr float, ptr %"in1", i64 %".333"
  %"in1.at.16" = getelementptr float, ptr %".334", i64 0
  %"in1.value.16" = load <8 x float>, ptr %"in1.at.16", align 4
  %"multiply.32" = fmul contract <8 x float> %"in0.value.8", %"in1.value.16"
  %".338" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.40" = fadd contract <8 x float> %".338", %"multiply.32"
  store <8 x float> %"add.40", <8 x float>* %"sum.8"
  %"in1.at.17" = getelementptr float, ptr %".334", i64 8
  %"in1.value.17" = load <8 x float>, ptr %"in1.at.17", align 4
  %"multiply.33" = fmul contract <8 x float> %"in0.value.8", %"in1.value.17"
  %".344" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.41" = fadd contract <8 x float> %".344", %"multiply.33"
  store <8 x float> %"add.41", <8 x float>* %"sum.9"
  %"in1.at.18" = getelementptr float, ptr %".334", i64 16
  %"in1.value.18" = load <8 x float>, ptr %"in1.at.18", align 4
  %"multiply.34" = fmul contract <8 x float> %"in0.value.8", %"in1.value.18"
  %".350" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.42" = fadd contract <8 x float> %".350", %"multiply.34"
  store <8 x float> %"add.42", <8 x float>* %"sum.10"
  %"in1.at.19" = getelementptr float, ptr %".334", i64 24
  %"in1.value.19" = load <8 x float>, ptr %"in1.at.19", align 4
  %"multiply.35" = fmul contract <8 x float> %"in0.value.8", %"in1.value.19"
  %".356" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.43" = fadd contract <8 x float> %".356", %"multiply.35"
  store <8 x float> %"add.43", <8 x float>* %"sum.11"
  %"in0.at.9" = getelementptr float, ptr %".324", i64 1
  %".360" = load float, ptr %"in0.at.9", align 4
  %".361" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".360", i32 0
  %"in0.value.9" = shufflevector <8 x float> %".361", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.20" = getelementptr float, ptr %".334", i64 32
  %"in1.value.20" = load <8 x float>, ptr %"in1.at.20", align 4
  %"multiply.36" = fmul contract <8 x float> %"in0.value.9", %"in1.value.20"
  %".366" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.44" = fadd contract <8 x float> %".366", %"multiply.36"
  store <8 x float> %"add.44", <8 x float>* %"sum.8"
  %"in1.at.21" = getelementptr float, ptr %".334", i64 40
  %"in1.value.21" = load <8 x float>, ptr %"in1.at.21", align 4
  %"multiply.37" = fmul contract <8 x float> %"in0.value.9", %"in1.value.21"
  %".372" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.45" = fadd contract <8 x float> %".372", %"multiply.37"
  store <8 x float> %"add.45", <8 x float>* %"sum.9"
  %"in1.at.22" = getelementptr float, ptr %".334", i64 48
  %"in1.value.22" = load <8 x float>, ptr %"in1.at.22", align 4
  %"multiply.38" = fmul contract <8 x float> %"in0.value.9", %"in1.value.22"
  %".378" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.46" = fadd contract <8 x float> %".378", %"multiply.38"
  store <8 x float> %"add.46", <8 x float>* %"sum.10"
  %"in1.at.23" = getelementptr float, ptr %".334", i64 56
  %"in1.value.23" = load <8 x float>, ptr %"in1.at.23", align 4
  %"multiply.39" = fmul contract <8 x float> %"in0.value.9", %"in1.value.23"
  %".384" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.47" = fadd contract <8 x float> %".384", %"multiply.39"
  store <8 x float> %"add.47", <8 x float>* %"sum.11"
  %"in0.at.10" = getelementptr float, ptr %".324", i64 2
  %".388" = load float, ptr %"in0.at.10", align 4
  %".389" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".388", i32 0
  %"in0.value.10" = shufflevector <8 x float> %".389", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.24" = getelementptr float, ptr %".334", i64 64
  %"in1.value.24" = load <8 x float>, ptr %"in1.at.24", align 4
  %"multiply.40" = fmul contract <8 x float> %"in0.value.10", %"in1.value.24"
  %".394" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.48" = fadd contract <8 x float> %".394", %"multiply.40"
  store <8 x float> %"add.48", <8 x float>* %"sum.8"
  %"in1.at.25" = getelementptr float, ptr %".334", i64 72
  %"in1.value.25" = load <8 x float>, ptr %"in1.at.25", align 4
  %"multiply.41" = fmul contract <8 x float> %"in0.value.10", %"in1.value.25"
  %".400" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.49" = fadd contract <8 x float> %".400", %"multiply.41"
  store <8 x float> %"add.49", <8 x float>* %"sum.9"
  %"in1.at.26" = getelementptr float, ptr %".334", i64 80
  %"in1.value.26" = load <8 x float>, ptr %"in1.at.26", align 4
  %"multiply.42" = fmul contract <8 x float> %"in0.value.10", %"in1.value.26"
  %".406" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.50" = fadd contract <8 x float> %".406", %"multiply.42"
  store <8 x float> %"add.50", <8 x float>* %"sum.10"
  %"in1.at.27" = getelementptr float, ptr %".334", i64 88
  %"in1.value.27" = load <8 x float>, ptr %"in1.at.27", align 4
  %"multiply.43" = fmul contract <8 x float> %"in0.value.10", %"in1.value.27"
  %".412" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.51" = fadd contract <8 x float> %".412", %"multiply.43"
  store <8 x float> %"add.51", <8 x float>* %"sum.11"
  %"in0.at.11" = getelementptr float, ptr %".324", i64 3
  %".416" = load float, ptr %"in0.at.11", align 4
  %".417" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".416", i32 0
  %"in0.value.11" = shufflevector <8 x float> %".417", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.28" = getelementptr float, ptr %".334", i64 96
  %"in1.value.28" = load <8 x float>, ptr %"in1.at.28", align 4
  %"multiply.44" = fmul contract <8 x float> %"in0.value.11", %"in1.value.28"
  %".422" = load <8 x float>, <8 x float>* %"sum.8"
  %"add.52" = fadd contract <8 x float> %".422", %"multiply.44"
  store <8 x float> %"add.52", <8 x float>* %"sum.8"
  %"in1.at.29" = getelementptr float, ptr %".334", i64 104
  %"in1.value.29" = load <8 x float>, ptr %"in1.at.29", align 4
  %"multiply.45" = fmul contract <8 x float> %"in0.value.11", %"in1.value.29"
  %".428" = load <8 x float>, <8 x float>* %"sum.9"
  %"add.53" = fadd contract <8 x float> %".428", %"multiply.45"
  store <8 x float> %"add.53", <8 x float>* %"sum.9"
  %"in1.at.30" = getelementptr float, ptr %".334", i64 112
  %"in1.value.30" = load <8 x float>, ptr %"in1.at.30", align 4
  %"multiply.46" = fmul contract <8 x float> %"in0.value.11", %"in1.value.30"
  %".434" = load <8 x float>, <8 x float>* %"sum.10"
  %"add.54" = fadd contract <8 x float> %".434", %"multiply.46"
  store <8 x float> %"add.54", <8 x float>* %"sum.10"
  %"in1.at.31" = getelementptr float, ptr %".334", i64 120
  %"in1.value.31" = load <8 x float>, ptr %"in1.at.31", align 4
  %"multiply.47" = fmul contract <8 x float> %"in0.value.11", %"in1.value.31"
  %".440" = load <8 x float>, <8 x float>* %"sum.11"
  %"add.55" = fadd contract <8 x float> %".440", %"multiply.47"
  store <8 x float> %"add.55", <8 x float>* %"sum.11"
  %".443" = load <8 x float>, <8 x float>* %"sum.8"
  %".444" = load <8 x float>, <8 x float>* %"sum.9"
  %".445" = load <8 x float>, <8 x float>* %"sum.10"
  %".446" = load <8 x float>, <8 x float>* %"sum.11"
  %".447" = mul nsw i64 %"i1", 1
  %".448" = add nsw i64 0, %".447"
  %".449" = getelementptr float, ptr %"in2", i64 %".448"
  %"in2.at.4" = getelementptr float, ptr %".449", i64 0
  %"in2.value.4" = load <8 x float>, ptr %"in2.at.4", align 4
  %"add.56" = fadd contract <8 x float> %".443", %"in2.value.4"
  %".453" = mul nsw i64 %".21", 32
  %".454" = add nsw i64 0, %".453"
  %".455" = mul nsw i64 %"i1", 1
  %".456" = add nsw i64 %".454", %".455"
  %".457" = getelementptr float, ptr %"out0", i64 %".456"
  %"out0.at.8" = getelementptr float, ptr %".457", i64 0
  store <8 x float> %"add.56", ptr %"out0.at.8", align 4
  %"in2.at.5" = getelementptr float, ptr %".449", i64 8
  %"in2.value.5" = load <8 x float>, ptr %"in2.at.5", align 4
  %"add.57" = fadd contract <8 x float> %".444", %"in2.value.5"
  %".463" = mul nsw i64 %".21", 32
  %".464" = add nsw i64 0, %".463"
  %".465" = mul nsw i64 %"i1", 1
  %".466" = add nsw i64 %".464", %".465"
  %".467" = getelementptr float, ptr %"out0", i64 %".466"
  %"out0.at.9" = getelementptr float, ptr %".467", i64 8
  store <8 x float> %"add.57", ptr %"out0.at.9", align 4
  %"in2.at.6" = getelementptr float, ptr %".449", i64 16
  %"in2.value.6" = load <8 x float>, ptr %"in2.at.6", align 4
  %"add.58" = fadd contract <8 x float> %".445", %"in2.value.6"
  %".473" = mul nsw i64 %".21", 32
  %".474" = add nsw i64 0, %".473"
  %".475" = mul nsw i64 %"i1", 1
  %".476" = add nsw i64 %".474", %".475"
  %".477" = getelementptr float, ptr %"out0", i64 %".476"
  %"out0.at.10" = getelementptr float, ptr %".477", i64 16
  store <8 x float> %"add.58", ptr %"out0.at.10", align 4
  %"in2.at.7" = getelementptr float, ptr %".449", i64 24
  %"in2.value.7" = load <8 x float>, ptr %"in2.at.7", align 4
  %"add.59" = fadd contract <8 x float> %".446", %"in2.value.7"
  %".483" = mul nsw i64 %".21", 32
  %".484" = add nsw i64 0, %".483"
  %".485" = mul nsw i64 %"i1", 1
  %".486" = add nsw i64 %".484", %".485"
  %".487" = getelementptr float, ptr %"out0", i64 %".486"
  %"out0.at.11" = getelementptr float, ptr %".487", i64 24
  store <8 x float> %"add.59", ptr %"out0.at.11", align 4
  %"i1.next" = add nsw i64 %"i1", 32
  br label %"i1.loop"
}

; for cpu: avx2: lstm_2
;   in0 = h.last: f32[1, 8]
;   in1 = `gates.weight$0|gates|i1.i2:32`: f32[1, 8, 32], packed
;   in2 = x: f32[1, 4, 8]
;   in3 = c.last: f32[1, 8]
;   out0 = c: f32[1, 8]
;   out1 = h: f32[1, 8]
;   gates: f32[i0=1, i1=4, i2=8] = sum(k0=8) h.last[0, k0] * gates.weight$0[i1, i2, k0] then acc + x[0, i1, i2]  # lstm_2
;   c: f32[i0=1, i1=8] = sigmoid(gates[0, 2, i1]) * c.last[0, i1] + sigmoid(gates[0, 0, i1]) * tanh(gates[0, 3, i1])  # lstm_2
;   h: f32[i0=1, i1=8] = sigmoid(gates[0, 1, i1]) * tanh(c[0, i1])  # lstm_2
; loops      gates: i0=32 of i1·i2, k0=8 of k0, 4 vectors of 8 along i0, k0 unrolled
; loops      c: i0=8 of i1, 1 vectors of 8 along i0
; loops      h: i0=8 of i1, 1 vectors of 8 along i0
; schedule   tile 1×8
; launch     tiles 1, scratch_bytes 384
; predicted  1.13 µs, 768 B from and to memory
; ModuleID = "lstm_aec60d44abd9"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"lstm_aec60d44abd9"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
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
  %".11" = getelementptr ptr, ptr %"arguments", i64 5
  %"out1" = load ptr, ptr %".11"
  %"tmp0" = getelementptr i8, ptr %"scratch", i64 0
  %"sum" = alloca <8 x float>
  %"sum.1" = alloca <8 x float>
  %"sum.2" = alloca <8 x float>
  %"sum.3" = alloca <8 x float>
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i0.after.2"]
  %".15" = icmp slt i64 %"tile", %"end"
  br i1 %".15", label %"tile.body", label %"tile.after"
tile.body:
  %".17" = mul i64 0, -32
  %".18" = add i64 0, %".17"
  %".19" = mul i64 0, -8
  %".20" = add i64 %".18", %".19"
  %".21" = mul i64 0, -1
  %".22" = add i64 %".20", %".21"
  %".23" = mul i64 %".22", 4
  %"tmp0.origin" = getelementptr i8, ptr %"tmp0", i64 %".23"
  %".25" = add i64 0, 1
  %".26" = add i64 0, 4
  %".27" = add i64 0, 8
  %".28" = mul i64 0, 8
  %".29" = mul i64 %".26", 8
  %".30" = add i64 %".28", 32
  br label %"i0.loop"
tile.after:
  ret void
i0.loop:
  %"i0" = phi  i64 [%".28", %"tile.body"], [%"i0.next", %"i0.body"]
  %".32" = icmp slt i64 %"i0", %".30"
  br i1 %".32", label %"i0.body", label %"i0.after"
i0.body:
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.1"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.2"
  store <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <8 x float>* %"sum.3"
  %".38" = getelementptr float, ptr %"in0", i64 0
  %"in0.at" = getelementptr float, ptr %".38", i64 0
  %".40" = load float, ptr %"in0.at", align 4
  %".41" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".40", i32 0
  %"in0.value" = shufflevector <8 x float> %".41", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".43" = udiv i64 %"i0", 32
  %".44" = urem i64 %"i0", 32
  %".45" = mul i64 %".43", 256
  %".46" = add i64 0, %".45"
  %".47" = add i64 %".46", %".44"
  %".48" = getelementptr float, ptr %"in1", i64 %".47"
  %"in1.at" = getelementptr float, ptr %".48", i64 0
  %"in1.value" = load <8 x float>, ptr %"in1.at", align 4
  %"multiply" = fmul contract <8 x float> %"in0.value", %"in1.value"
  %".52" = load <8 x float>, <8 x float>* %"sum"
  %"add" = fadd contract <8 x float> %".52", %"multiply"
  store <8 x float> %"add", <8 x float>* %"sum"
  %"in1.at.1" = getelementptr float, ptr %".48", i64 8
  %"in1.value.1" = load <8 x float>, ptr %"in1.at.1", align 4
  %"multiply.1" = fmul contract <8 x float> %"in0.value", %"in1.value.1"
  %".58" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.1" = fadd contract <8 x float> %".58", %"multiply.1"
  store <8 x float> %"add.1", <8 x float>* %"sum.1"
  %"in1.at.2" = getelementptr float, ptr %".48", i64 16
  %"in1.value.2" = load <8 x float>, ptr %"in1.at.2", align 4
  %"multiply.2" = fmul contract <8 x float> %"in0.value", %"in1.value.2"
  %".64" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.2" = fadd contract <8 x float> %".64", %"multiply.2"
  store <8 x float> %"add.2", <8 x float>* %"sum.2"
  %"in1.at.3" = getelementptr float, ptr %".48", i64 24
  %"in1.value.3" = load <8 x float>, ptr %"in1.at.3", align 4
  %"multiply.3" = fmul contract <8 x float> %"in0.value", %"in1.value.3"
  %".70" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.3" = fadd contract <8 x float> %".70", %"multiply.3"
  store <8 x float> %"add.3", <8 x float>* %"sum.3"
  %"in0.at.1" = getelementptr float, ptr %".38", i64 1
  %".74" = load float, ptr %"in0.at.1", align 4
  %".75" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".74", i32 0
  %"in0.value.1" = shufflevector <8 x float> %".75", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.4" = getelementptr float, ptr %".48", i64 32
  %"in1.value.4" = load <8 x float>, ptr %"in1.at.4", align 4
  %"multiply.4" = fmul contract <8 x float> %"in0.value.1", %"in1.value.4"
  %".80" = load <8 x float>, <8 x float>* %"sum"
  %"add.4" = fadd contract <8 x float> %".80", %"multiply.4"
  store <8 x float> %"add.4", <8 x float>* %"sum"
  %"in1.at.5" = getelementptr float, ptr %".48", i64 40
  %"in1.value.5" = load <8 x float>, ptr %"in1.at.5", align 4
  %"multiply.5" = fmul contract <8 x float> %"in0.value.1", %"in1.value.5"
  %".86" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.5" = fadd contract <8 x float> %".86", %"multiply.5"
  store <8 x float> %"add.5", <8 x float>* %"sum.1"
  %"in1.at.6" = getelementptr float, ptr %".48", i64 48
  %"in1.value.6" = load <8 x float>, ptr %"in1.at.6", align 4
  %"multiply.6" = fmul contract <8 x float> %"in0.value.1", %"in1.value.6"
  %".92" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.6" = fadd contract <8 x float> %".92", %"multiply.6"
  store <8 x float> %"add.6", <8 x float>* %"sum.2"
  %"in1.at.7" = getelementptr float, ptr %".48", i64 56
  %"in1.value.7" = load <8 x float>, ptr %"in1.at.7", align 4
  %"multiply.7" = fmul contract <8 x float> %"in0.value.1", %"in1.value.7"
  %".98" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.7" = fadd contract <8 x float> %".98", %"multiply.7"
  store <8 x float> %"add.7", <8 x float>* %"sum.3"
  %"in0.at.2" = getelementptr float, ptr %".38", i64 2
  %".102" = load float, ptr %"in0.at.2", align 4
  %".103" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".102", i32 0
  %"in0.value.2" = shufflevector <8 x float> %".103", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.8" = getelementptr float, ptr %".48", i64 64
  %"in1.value.8" = load <8 x float>, ptr %"in1.at.8", align 4
  %"multiply.8" = fmul contract <8 x float> %"in0.value.2", %"in1.value.8"
  %".108" = load <8 x float>, <8 x float>* %"sum"
  %"add.8" = fadd contract <8 x float> %".108", %"multiply.8"
  store <8 x float> %"add.8", <8 x float>* %"sum"
  %"in1.at.9" = getelementptr float, ptr %".48", i64 72
  %"in1.value.9" = load <8 x float>, ptr %"in1.at.9", align 4
  %"multiply.9" = fmul contract <8 x float> %"in0.value.2", %"in1.value.9"
  %".114" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.9" = fadd contract <8 x float> %".114", %"multiply.9"
  store <8 x float> %"add.9", <8 x float>* %"sum.1"
  %"in1.at.10" = getelementptr float, ptr %".48", i64 80
  %"in1.value.10" = load <8 x float>, ptr %"in1.at.10", align 4
  %"multiply.10" = fmul contract <8 x float> %"in0.value.2", %"in1.value.10"
  %".120" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.10" = fadd contract <8 x float> %".120", %"multiply.10"
  store <8 x float> %"add.10", <8 x float>* %"sum.2"
  %"in1.at.11" = getelementptr float, ptr %".48", i64 88
  %"in1.value.11" = load <8 x float>, ptr %"in1.at.11", align 4
  %"multiply.11" = fmul contract <8 x float> %"in0.value.2", %"in1.value.11"
  %".126" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.11" = fadd contract <8 x float> %".126", %"multiply.11"
  store <8 x float> %"add.11", <8 x float>* %"sum.3"
  %"in0.at.3" = getelementptr float, ptr %".38", i64 3
  %".130" = load float, ptr %"in0.at.3", align 4
  %".131" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".130", i32 0
  %"in0.value.3" = shufflevector <8 x float> %".131", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.12" = getelementptr float, ptr %".48", i64 96
  %"in1.value.12" = load <8 x float>, ptr %"in1.at.12", align 4
  %"multiply.12" = fmul contract <8 x float> %"in0.value.3", %"in1.value.12"
  %".136" = load <8 x float>, <8 x float>* %"sum"
  %"add.12" = fadd contract <8 x float> %".136", %"multiply.12"
  store <8 x float> %"add.12", <8 x float>* %"sum"
  %"in1.at.13" = getelementptr float, ptr %".48", i64 104
  %"in1.value.13" = load <8 x float>, ptr %"in1.at.13", align 4
  %"multiply.13" = fmul contract <8 x float> %"in0.value.3", %"in1.value.13"
  %".142" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.13" = fadd contract <8 x float> %".142", %"multiply.13"
  store <8 x float> %"add.13", <8 x float>* %"sum.1"
  %"in1.at.14" = getelementptr float, ptr %".48", i64 112
  %"in1.value.14" = load <8 x float>, ptr %"in1.at.14", align 4
  %"multiply.14" = fmul contract <8 x float> %"in0.value.3", %"in1.value.14"
  %".148" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.14" = fadd contract <8 x float> %".148", %"multiply.14"
  store <8 x float> %"add.14", <8 x float>* %"sum.2"
  %"in1.at.15" = getelementptr float, ptr %".48", i64 120
  %"in1.value.15" = load <8 x float>, ptr %"in1.at.15", align 4
  %"multiply.15" = fmul contract <8 x float> %"in0.value.3", %"in1.value.15"
  %".154" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.15" = fadd contract <8 x float> %".154", %"multiply.15"
  store <8 x float> %"add.15", <8 x float>* %"sum.3"
  %"in0.at.4" = getelementptr float, ptr %".38", i64 4
  %".158" = load float, ptr %"in0.at.4", align 4
  %".159" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".158", i32 0
  %"in0.value.4" = shufflevector <8 x float> %".159", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.16" = getelementptr float, ptr %".48", i64 128
  %"in1.value.16" = load <8 x float>, ptr %"in1.at.16", align 4
  %"multiply.16" = fmul contract <8 x float> %"in0.value.4", %"in1.value.16"
  %".164" = load <8 x float>, <8 x float>* %"sum"
  %"add.16" = fadd contract <8 x float> %".164", %"multiply.16"
  store <8 x float> %"add.16", <8 x float>* %"sum"
  %"in1.at.17" = getelementptr float, ptr %".48", i64 136
  %"in1.value.17" = load <8 x float>, ptr %"in1.at.17", align 4
  %"multiply.17" = fmul contract <8 x float> %"in0.value.4", %"in1.value.17"
  %".170" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.17" = fadd contract <8 x float> %".170", %"multiply.17"
  store <8 x float> %"add.17", <8 x float>* %"sum.1"
  %"in1.at.18" = getelementptr float, ptr %".48", i64 144
  %"in1.value.18" = load <8 x float>, ptr %"in1.at.18", align 4
  %"multiply.18" = fmul contract <8 x float> %"in0.value.4", %"in1.value.18"
  %".176" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.18" = fadd contract <8 x float> %".176", %"multiply.18"
  store <8 x float> %"add.18", <8 x float>* %"sum.2"
  %"in1.at.19" = getelementptr float, ptr %".48", i64 152
  %"in1.value.19" = load <8 x float>, ptr %"in1.at.19", align 4
  %"multiply.19" = fmul contract <8 x float> %"in0.value.4", %"in1.value.19"
  %".182" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.19" = fadd contract <8 x float> %".182", %"multiply.19"
  store <8 x float> %"add.19", <8 x float>* %"sum.3"
  %"in0.at.5" = getelementptr float, ptr %".38", i64 5
  %".186" = load float, ptr %"in0.at.5", align 4
  %".187" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".186", i32 0
  %"in0.value.5" = shufflevector <8 x float> %".187", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.20" = getelementptr float, ptr %".48", i64 160
  %"in1.value.20" = load <8 x float>, ptr %"in1.at.20", align 4
  %"multiply.20" = fmul contract <8 x float> %"in0.value.5", %"in1.value.20"
  %".192" = load <8 x float>, <8 x float>* %"sum"
  %"add.20" = fadd contract <8 x float> %".192", %"multiply.20"
  store <8 x float> %"add.20", <8 x float>* %"sum"
  %"in1.at.21" = getelementptr float, ptr %".48", i64 168
  %"in1.value.21" = load <8 x float>, ptr %"in1.at.21", align 4
  %"multiply.21" = fmul contract <8 x float> %"in0.value.5", %"in1.value.21"
  %".198" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.21" = fadd contract <8 x float> %".198", %"multiply.21"
  store <8 x float> %"add.21", <8 x float>* %"sum.1"
  %"in1.at.22" = getelementptr float, ptr %".48", i64 176
  %"in1.value.22" = load <8 x float>, ptr %"in1.at.22", align 4
  %"multiply.22" = fmul contract <8 x float> %"in0.value.5", %"in1.value.22"
  %".204" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.22" = fadd contract <8 x float> %".204", %"multiply.22"
  store <8 x float> %"add.22", <8 x float>* %"sum.2"
  %"in1.at.23" = getelementptr float, ptr %".48", i64 184
  %"in1.value.23" = load <8 x float>, ptr %"in1.at.23", align 4
  %"multiply.23" = fmul contract <8 x float> %"in0.value.5", %"in1.value.23"
  %".210" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.23" = fadd contract <8 x float> %".210", %"multiply.23"
  store <8 x float> %"add.23", <8 x float>* %"sum.3"
  %"in0.at.6" = getelementptr float, ptr %".38", i64 6
  %".214" = load float, ptr %"in0.at.6", align 4
  %".215" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".214", i32 0
  %"in0.value.6" = shufflevector <8 x float> %".215", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.24" = getelementptr float, ptr %".48", i64 192
  %"in1.value.24" = load <8 x float>, ptr %"in1.at.24", align 4
  %"multiply.24" = fmul contract <8 x float> %"in0.value.6", %"in1.value.24"
  %".220" = load <8 x float>, <8 x float>* %"sum"
  %"add.24" = fadd contract <8 x float> %".220", %"multiply.24"
  store <8 x float> %"add.24", <8 x float>* %"sum"
  %"in1.at.25" = getelementptr float, ptr %".48", i64 200
  %"in1.value.25" = load <8 x float>, ptr %"in1.at.25", align 4
  %"multiply.25" = fmul contract <8 x float> %"in0.value.6", %"in1.value.25"
  %".226" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.25" = fadd contract <8 x float> %".226", %"multiply.25"
  store <8 x float> %"add.25", <8 x float>* %"sum.1"
  %"in1.at.26" = getelementptr float, ptr %".48", i64 208
  %"in1.value.26" = load <8 x float>, ptr %"in1.at.26", align 4
  %"multiply.26" = fmul contract <8 x float> %"in0.value.6", %"in1.value.26"
  %".232" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.26" = fadd contract <8 x float> %".232", %"multiply.26"
  store <8 x float> %"add.26", <8 x float>* %"sum.2"
  %"in1.at.27" = getelementptr float, ptr %".48", i64 216
  %"in1.value.27" = load <8 x float>, ptr %"in1.at.27", align 4
  %"multiply.27" = fmul contract <8 x float> %"in0.value.6", %"in1.value.27"
  %".238" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.27" = fadd contract <8 x float> %".238", %"multiply.27"
  store <8 x float> %"add.27", <8 x float>* %"sum.3"
  %"in0.at.7" = getelementptr float, ptr %".38", i64 7
  %".242" = load float, ptr %"in0.at.7", align 4
  %".243" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".242", i32 0
  %"in0.value.7" = shufflevector <8 x float> %".243", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %"in1.at.28" = getelementptr float, ptr %".48", i64 224
  %"in1.value.28" = load <8 x float>, ptr %"in1.at.28", align 4
  %"multiply.28" = fmul contract <8 x float> %"in0.value.7", %"in1.value.28"
  %".248" = load <8 x float>, <8 x float>* %"sum"
  %"add.28" = fadd contract <8 x float> %".248", %"multiply.28"
  store <8 x float> %"add.28", <8 x float>* %"sum"
  %"in1.at.29" = getelementptr float, ptr %".48", i64 232
  %"in1.value.29" = load <8 x float>, ptr %"in1.at.29", align 4
  %"multiply.29" = fmul contract <8 x float> %"in0.value.7", %"in1.value.29"
  %".254" = load <8 x float>, <8 x float>* %"sum.1"
  %"add.29" = fadd contract <8 x float> %".254", %"multiply.29"
  store <8 x float> %"add.29", <8 x float>* %"sum.1"
  %"in1.at.30" = getelementptr float, ptr %".48", i64 240
  %"in1.value.30" = load <8 x float>, ptr %"in1.at.30", align 4
  %"multiply.30" = fmul contract <8 x float> %"in0.value.7", %"in1.value.30"
  %".260" = load <8 x float>, <8 x float>* %"sum.2"
  %"add.30" = fadd contract <8 x float> %".260", %"multiply.30"
  store <8 x float> %"add.30", <8 x float>* %"sum.2"
  %"in1.at.31" = getelementptr float, ptr %".48", i64 248
  %"in1.value.31" = load <8 x float>, ptr %"in1.at.31", align 4
  %"multiply.31" = fmul contract <8 x float> %"in0.value.7", %"in1.value.31"
  %".266" = load <8 x float>, <8 x float>* %"sum.3"
  %"add.31" = fadd contract <8 x float> %".266", %"multiply.31"
  store <8 x float> %"add.31", <8 x float>* %"sum.3"
  %".269" = load <8 x float>, <8 x float>* %"sum"
  %".270" = load <8 x float>, <8 x float>* %"sum.1"
  %".271" = load <8 x float>, <8 x float>* %"sum.2"
  %".272" = load <8 x float>, <8 x float>* %"sum.3"
  %".273" = mul nsw i64 %"i0", 1
  %".274" = add nsw i64 0, %".273"
  %".275" = getelementptr float, ptr %"in2", i64 %".274"
  %"in2.at" = getelementptr float, ptr %".275", i64 0
  %"in2.value" = load <8 x float>, ptr %"in2.at", align 4
  %"add.32" = fadd contract <8 x float> %".269", %"in2.value"
  %".279" = mul nsw i64 %"i0", 1
  %".280" = add nsw i64 0, %".279"
  %".281" = getelementptr float, ptr %"tmp0.origin", i64 %".280"
  %"tmp0.origin.at" = getelementptr float, ptr %".281", i64 0
  store <8 x float> %"add.32", ptr %"tmp0.origin.at", align 4
  %"in2.at.1" = getelementptr float, ptr %".275", i64 8
  %"in2.value.1" = load <8 x float>, ptr %"in2.at.1", align 4
  %"add.33" = fadd contract <8 x float> %".270", %"in2.value.1"
  %".287" = mul nsw i64 %"i0", 1
  %".288" = add nsw i64 0, %".287"
  %".289" = getelementptr float, ptr %"tmp0.origin", i64 %".288"
  %"tmp0.origin.at.1" = getelementptr float, ptr %".289", i64 8
  store <8 x float> %"add.33", ptr %"tmp0.origin.at.1", align 4
  %"in2.at.2" = getelementptr float, ptr %".275", i64 16
  %"in2.value.2" = load <8 x float>, ptr %"in2.at.2", align 4
  %"add.34" = fadd contract <8 x float> %".271", %"in2.value.2"
  %".295" = mul nsw i64 %"i0", 1
  %".296" = add nsw i64 0, %".295"
  %".297" = getelementptr float, ptr %"tmp0.origin", i64 %".296"
  %"tmp0.origin.at.2" = getelementptr float, ptr %".297", i64 16
  store <8 x float> %"add.34", ptr %"tmp0.origin.at.2", align 4
  %"in2.at.3" = getelementptr float, ptr %".275", i64 24
  %"in2.value.3" = load <8 x float>, ptr %"in2.at.3", align 4
  %"add.35" = fadd contract <8 x float> %".272", %"in2.value.3"
  %".303" = mul nsw i64 %"i0", 1
  %".304" = add nsw i64 0, %".303"
  %".305" = getelementptr float, ptr %"tmp0.origin", i64 %".304"
  %"tmp0.origin.at.3" = getelementptr float, ptr %".305", i64 24
  store <8 x float> %"add.35", ptr %"tmp0.origin.at.3", align 4
  %"i0.next" = add nsw i64 %"i0", 32
  br label %"i0.loop"
i0.after:
  %".309" = add i64 0, 1
  %".310" = add i64 0, 8
  %".311" = add i64 0, 8
  br label %"i0.loop.1"
i0.loop.1:
  %"i0.1" = phi  i64 [0, %"i0.after"], [%"i0.next.1", %"i0.body.1"]
  %".313" = icmp slt i64 %"i0.1", %".311"
  br i1 %".313", label %"i0.body.1", label %"i0.after.1"
i0.body.1:
  %".315" = mul nsw i64 %"i0.1", 1
  %".316" = add nsw i64 16, %".315"
  %".317" = getelementptr float, ptr %"tmp0.origin", i64 %".316"
  %"tmp0.origin.at.4" = getelementptr float, ptr %".317", i64 0
  %"tmp0.origin.value" = load <8 x float>, ptr %"tmp0.origin.at.4", align 4
  %"sigmoid" = call <8 x float> @"burnish.sigmoid.f32.8"(<8 x float> %"tmp0.origin.value")
  %".321" = mul nsw i64 %"i0.1", 1
  %".322" = add nsw i64 0, %".321"
  %".323" = getelementptr float, ptr %"in3", i64 %".322"
  %"in3.at" = getelementptr float, ptr %".323", i64 0
  %"in3.value" = load <8 x float>, ptr %"in3.at", align 4
  %"multiply.32" = fmul contract <8 x float> %"sigmoid", %"in3.value"
  %".327" = mul nsw i64 %"i0.1", 1
  %".328" = add nsw i64 0, %".327"
  %".329" = getelementptr float, ptr %"tmp0.origin", i64 %".328"
  %"tmp0.origin.at.5" = getelementptr float, ptr %".329", i64 0
  %"tmp0.origin.value.1" = load <8 x float>, ptr %"tmp0.origin.at.5", align 4
  %"sigmoid.1" = call <8 x float> @"burnish.sigmoid.f32.8"(<8 x float> %"tmp0.origin.value.1")
  %".333" = mul nsw i64 %"i0.1", 1
  %".334" = add nsw i64 24, %".333"
  %".335" = getelementptr float, ptr %"tmp0.origin", i64 %".334"
  %"tmp0.origin.at.6" = getelementptr float, ptr %".335", i64 0
  %"tmp0.origin.value.2" = load <8 x float>, ptr %"tmp0.origin.at.6", align 4
  %"tanh" = call <8 x float> @"burnish.tanh.f32.8"(<8 x float> %"tmp0.origin.value.2")
  %"multiply.33" = fmul contract <8 x float> %"sigmoid.1", %"tanh"
  %"add.36" = fadd contract <8 x float> %"multiply.32", %"multiply.33"
  %".341" = mul nsw i64 %"i0.1", 1
  %".342" = add nsw i64 0, %".341"
  %".343" = getelementptr float, ptr %"out0", i64 %".342"
  %"out0.at" = getelementptr float, ptr %".343", i64 0
  store <8 x float> %"add.36", ptr %"out0.at", align 4
  %"i0.next.1" = add nsw i64 %"i0.1", 8
  br label %"i0.loop.1"
i0.after.1:
  %".347" = add i64 0, 1
  %".348" = add i64 0, 8
  %".349" = add i64 0, 8
  br label %"i0.loop.2"
i0.loop.2:
  %"i0.2" = phi  i64 [0, %"i0.after.1"], [%"i0.next.2", %"i0.body.2"]
  %".351" = icmp slt i64 %"i0.2", %".349"
  br i1 %".351", label %"i0.body.2", label %"i0.after.2"
i0.body.2:
  %".353" = mul nsw i64 %"i0.2", 1
  %".354" = add nsw i64 8, %".353"
  %".355" = getelementptr float, ptr %"tmp0.origin", i64 %".354"
  %"tmp0.origin.at.7" = getelementptr float, ptr %".355", i64 0
  %"tmp0.origin.value.3" = load <8 x float>, ptr %"tmp0.origin.at.7", align 4
  %"sigmoid.2" = call <8 x float> @"burnish.sigmoid.f32.8"(<8 x float> %"tmp0.origin.value.3")
  %".359" = mul nsw i64 %"i0.2", 1
  %".360" = add nsw i64 0, %".359"
  %".361" = getelementptr float, ptr %"out0", i64 %".360"
  %"out0.at.1" = getelementptr float, ptr %".361", i64 0
  %"out0.value" = load <8 x float>, ptr %"out0.at.1", align 4
  %"tanh.1" = call <8 x float> @"burnish.tanh.f32.8"(<8 x float> %"out0.value")
  %"multiply.34" = fmul contract <8 x float> %"sigmoid.2", %"tanh.1"
  %".366" = mul nsw i64 %"i0.2", 1
  %".367" = add nsw i64 0, %".366"
  %".368" = getelementptr float, ptr %"out1", i64 %".367"
  %"out1.at" = getelementptr float, ptr %".368", i64 0
  store <8 x float> %"multiply.34", ptr %"out1.at", align 4
  %"i0.next.2" = add nsw i64 %"i0.2", 8
  br label %"i0.loop.2"
i0.after.2:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
}

declare <8 x float> @"burnish.sigmoid.f32.8"(<8 x float> %".1")

declare <8 x float> @"burnish.tanh.f32.8"(<8 x float> %".1")
