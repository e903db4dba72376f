; for cpu: avx2: concat_2, pad_2
;   in0 = x: f32[2, 8]
;   in1 = z: f32[2, 8]
;   out0 = y: f32[2, 20]
;   y: f32[i0=2, i1=20] = where(inside(2 <= i1 < 18), where(inside(2 <= i1 < 10), x[i0, i1 - 2 | 2 <= i1 < 10 else 0.0], z[i0, i1 - 10 | 10 <= i1 < 18 else 0.0]), 0.0)  # concat_2, pad_2
; loops      y: i0=2 of i0, i1=20 of i1, 2 vectors of 8 along i1
; loops      y: i0=2 of i0, i1=20 of i1, 2 vectors of 8 along i1
; loops      y: i0=2 of i0, i1=20 of i1, 2 vectors of 8 along i1
; loops      y: i0=2 of i0, i1=20 of i1, 2 vectors of 8 along i1
; schedule   tile 2×20
; launch     tiles 1, scratch_bytes 256
; predicted  1.04 µs, 144 B from and to memory
; ModuleID = "concat_pad_67627e8a0c87"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"concat_pad_67627e8a0c87"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
{
entry:
  %".6" = getelementptr ptr, ptr %"arguments", i64 0
  %"in0" = load ptr, ptr %".6"
  %".7" = getelementptr ptr, ptr %"arguments", i64 1
  %"in1" = load ptr, ptr %".7"
  %".8" = getelementptr ptr, ptr %"arguments", i64 2
  %"out0" = load ptr, ptr %".8"
  br label %"tiles"
tiles:
  br label %"tile.loop"
tile.loop:
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i0.after.3"]
  %".11" = icmp slt i64 %"tile", %"end"
  br i1 %".11", label %"tile.body", label %"tile.after"
tile.body:
  %".13" = add i64 0, 2
  %".14" = add i64 0, 20
  %".15" = icmp sgt i64 0, 0
  %".16" = select  i1 %".15", i64 0, i64 0
  %".17" = icmp slt i64 %".14", 2
  %".18" = select  i1 %".17", i64 %".14", i64 2
  br label %"i0.loop"
tile.after:
  ret void
i0.loop:
  %"i0" = phi  i64 [0, %"tile.body"], [%"i0.next", %"i1.after.1"]
  %".20" = icmp slt i64 %"i0", %".13"
  br i1 %".20", label %"i0.body", label %"i0.after"
i0.body:
  %".22" = sub i64 %".18", %".16"
  %".23" = sdiv i64 %".22", 16
  %".24" = mul i64 %".23", 16
  %".25" = add i64 %".16", %".24"
  br label %"i1.loop"
i0.after:
  %".61" = add i64 0, 2
  %".62" = add i64 0, 20
  %".63" = icmp sgt i64 0, 2
  %".64" = select  i1 %".63", i64 0, i64 2
  %".65" = icmp slt i64 %".62", 10
  %".66" = select  i1 %".65", i64 %".62", i64 10
  br label %"i0.loop.1"
i1.loop:
  %"i1" = phi  i64 [%".16", %"i0.body"], [%"i1.next", %"i1.body"]
  %".27" = icmp slt i64 %"i1", %".25"
  br i1 %".27", label %"i1.body", label %"i1.after"
i1.body:
  %".29" = mul nsw i64 %"i0", 20
  %".30" = add nsw i64 0, %".29"
  %".31" = mul nsw i64 %"i1", 1
  %".32" = add nsw i64 %".30", %".31"
  %".33" = getelementptr float, ptr %"out0", i64 %".32"
  %"out0.at" = getelementptr float, ptr %".33", i64 0
  store <8 x float> splat (float              0x0), ptr %"out0.at", align 4
  %".36" = mul nsw i64 %"i0", 20
  %".37" = add nsw i64 0, %".36"
  %".38" = mul nsw i64 %"i1", 1
  %".39" = add nsw i64 %".37", %".38"
  %".40" = getelementptr float, ptr %"out0", i64 %".39"
  %"out0.at.1" = getelementptr float, ptr %".40", i64 8
  store <8 x float> splat (float              0x0), ptr %"out0.at.1", align 4
  %"i1.next" = add nsw i64 %"i1", 16
  br label %"i1.loop"
i1.after:
  br label %"i1.loop.1"
i1.loop.1:
  %"i1.1" = phi  i64 [%".25", %"i1.after"], [%"i1.next.1", %"i1.body.1"]
  %".45" = icmp slt i64 %"i1.1", %".18"
  br i1 %".45", label %"i1.body.1", label %"i1.after.1"
i1.body.1:
  %".47" = sub i64 %".18", %"i1.1"
  %".48" = trunc i64 %".47" to i32
  %".49" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".48", i32 0
  %".50" = shufflevector <8 x i32> %".49", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".51" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".50"
  %".52" = mul nsw i64 %"i0", 20
  %".53" = add nsw i64 0, %".52"
  %".54" = mul nsw i64 %"i1.1", 1
  %".55" = add nsw i64 %".53", %".54"
  %".56" = getelementptr float, ptr %"out0", i64 %".55"
  %"out0.at.2" = getelementptr float, ptr %".56", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> splat (float              0x0), ptr %"out0.at.2", i32 4, <8 x i1> %".51")
  %"i1.next.1" = add nsw i64 %"i1.1", 8
  br label %"i1.loop.1"
i1.after.1:
  %"i0.next" = add nsw i64 %"i0", 1
  br label %"i0.loop"
i0.loop.1:
  %"i0.1" = phi  i64 [0, %"i0.after"], [%"i0.next.1", %"i1.after.3"]
  %".68" = icmp slt i64 %"i0.1", %".61"
  br i1 %".68", label %"i0.body.1", label %"i0.after.1"
i0.body.1:
  %".70" = sub i64 %".66", %".64"
  %".71" = sdiv i64 %".70", 16
  %".72" = mul i64 %".71", 16
  %".73" = add i64 %".64", %".72"
  br label %"i1.loop.2"
i0.after.1:
  %".125" = add i64 0, 2
  %".126" = add i64 0, 20
  %".127" = icmp sgt i64 0, 10
  %".128" = select  i1 %".127", i64 0, i64 10
  %".129" = icmp slt i64 %".126", 18
  %".130" = select  i1 %".129", i64 %".126", i64 18
  br label %"i0.loop.2"
i1.loop.2:
  %"i1.2" = phi  i64 [%".64", %"i0.body.1"], [%"i1.next.2", %"i1.body.2"]
  %".75" = icmp slt i64 %"i1.2", %".73"
  br i1 %".75", label %"i1.body.2", label %"i1.after.2"
i1.body.2:
  %".77" = mul nsw i64 %"i0.1", 8
  %".78" = add nsw i64 -2, %".77"
  %".79" = mul nsw i64 %"i1.2", 1
  %".80" = add nsw i64 %".78", %".79"
  %".81" = getelementptr float, ptr %"in0", i64 %".80"
  %"in0.at" = getelementptr float, ptr %".81", i64 0
  %"in0.value" = load <8 x float>, ptr %"in0.at", align 4
  %".84" = mul nsw i64 %"i0.1", 20
  %".85" = add nsw i64 0, %".84"
  %".86" = mul nsw i64 %"i1.2", 1
  %".87" = add nsw i64 %".85", %".86"
  %".88" = getelementptr float, ptr %"out0", i64 %".87"
  %"out0.at.3" = getelementptr float, ptr %".88", i64 0
  store <8 x float> %"in0.value", ptr %"out0.at.3", align 4
  %"in0.at.1" = getelementptr float, ptr %".81", i64 8
  %"in0.value.1" = load <8 x float>, ptr %"in0.at.1", align 4
  %".93" = mul nsw i64 %"i0.1", 20
  %".94" = add nsw i64 0, %".93"
  %".95" = mul nsw i64 %"i1.2", 1
  %".96" = add nsw i64 %".94", %".95"
  %".97" = getelementptr float, ptr %"out0", i64 %".96"
  %"out0.at.4" = getelementptr float, ptr %".97", i64 8
  store <8 x float> %"in0.value.1", ptr %"out0.at.4", align 4
  %"i1.next.2" = add nsw i64 %"i1.2", 16
  br label %"i1.loop.2"
i1.after.2:
  br label %"i1.loop.3"
i1.loop.3:
  %"i1.3" = phi  i64 [%".73", %"i1.after.2"], [%"i1.next.3", %"i1.body.3"]
  %".102" = icmp slt i64 %"i1.3", %".66"
  br i1 %".102", label %"i1.body.3", label %"i1.after.3"
i1.body.3:
  %".104" = sub i64 %".66", %"i1.3"
  %".105" = trunc i64 %".104" to i32
  %".106" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".105", i32 0
  %".107" = shufflevector <8 x i32> %".106", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".108" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".107"
  %".109" = mul nsw i64 %"i0.1", 8
  %".110" = add nsw i64 -2, %".109"
  %".111" = mul nsw i64 %"i1.3", 1
  %".112" = add nsw i64 %".110", %".111"
  %".113" = getelementptr float, ptr %"in0", i64 %".112"
  %"in0.at.2" = getelementptr float, ptr %".113", i64 0
  %"in0.value.2" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"in0.at.2", i32 4, <8 x i1> %".108", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".116" = mul nsw i64 %"i0.1", 20
  %".117" = add nsw i64 0, %".116"
  %".118" = mul nsw i64 %"i1.3", 1
  %".119" = add nsw i64 %".117", %".118"
  %".120" = getelementptr float, ptr %"out0", i64 %".119"
  %"out0.at.5" = getelementptr float, ptr %".120", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %"in0.value.2", ptr %"out0.at.5", i32 4, <8 x i1> %".108")
  %"i1.next.3" = add nsw i64 %"i1.3", 8
  br label %"i1.loop.3"
i1.after.3:
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  br label %"i0.loop.1"
i0.loop.2:
  %"i0.2" = phi  i64 [0, %"i0.after.1"], [%"i0.next.2", %"i1.after.5"]
  %".132" = icmp slt i64 %"i0.2", %".125"
  br i1 %".132", label %"i0.body.2", label %"i0.after.2"
i0.body.2:
  %".134" = sub i64 %".130", %".128"
  %".135" = sdiv i64 %".134", 16
  %".136" = mul i64 %".135", 16
  %".137" = add i64 %".128", %".136"
  br label %"i1.loop.4"
i0.after.2:
  %".189" = add i64 0, 2
  %".190" = add i64 0, 20
  %".191" = icmp sgt i64 0, 18
  %".192" = select  i1 %".191", i64 0, i64 18
  %".193" = icmp slt i64 %".190", 20
  %".194" = select  i1 %".193", i64 %".190", i64 20
  br label %"i0.loop.3"
i1.loop.4:
  %"i1.4" = phi  i64 [%".128", %"i0.body.2"], [%"i1.next.4", %"i1.body.4"]
  %".139" = icmp slt i64 %"i1.4", %".137"
  br i1 %".139", label %"i1.body.4", label %"i1.after.4"
i1.body.4:
  %".141" = mul nsw i64 %"i0.2", 8
  %".142" = add nsw i64 -10, %".141"
  %".143" = mul nsw i64 %"i1.4", 1
  %".144" = add nsw i64 %".142", %".143"
  %".145" = getelementptr float, ptr %"in1", i64 %".144"
  %"in1.at" = getelementptr float, ptr %".145", i64 0
  %"in1.value" = load <8 x float>, ptr %"in1.at", align 4
  %".148" = mul nsw i64 %"i0.2", 20
  %".149" = add nsw i64 0, %".148"
  %".150" = mul nsw i64 %"i1.4", 1
  %".151" = add nsw i64 %".149", %".150"
  %".152" = getelementptr float, ptr %"out0", i64 %".151"
  %"out0.at.6" = getelementptr float, ptr %".152", i64 0
  store <8 x float> %"in1.value", ptr %"out0.at.6", align 4
  %"in1.at.1" = getelementptr float, ptr %".145", i64 8
  %"in1.value.1" = load <8 x float>, ptr %"in1.at.1", align 4
  %".157" = mul nsw i64 %"i0.2", 20
  %".158" = add nsw i64 0, %".157"
  %".159" = mul nsw i64 %"i1.4", 1
  %".160" = add nsw i64 %".158", %".159"
  %".161" = getelementptr float, ptr %"out0", i64 %".160"
  %"out0.at.7" = getelementptr float, ptr %".161", i64 8
  store <8 x float> %"in1.value.1", ptr %"out0.at.7", align 4
  %"i1.next.4" = add nsw i64 %"i1.4", 16
  br label %"i1.loop.4"
i1.after.4:
  br label %"i1.loop.5"
i1.loop.5:
  %"i1.5" = phi  i64 [%".137", %"i1.after.4"], [%"i1.next.5", %"i1.body.5"]
  %".166" = icmp slt i64 %"i1.5", %".130"
  br i1 %".166", label %"i1.body.5", label %"i1.after.5"
i1.body.5:
  %".168" = sub i64 %".130", %"i1.5"
  %".169" = trunc i64 %".168" to i32
  %".170" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".169", i32 0
  %".171" = shufflevector <8 x i32> %".170", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".172" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".171"
  %".173" = mul nsw i64 %"i0.2", 8
  %".174" = add nsw i64 -10, %".173"
  %".175" = mul nsw i64 %"i1.5", 1
  %".176" = add nsw i64 %".174", %".175"
  %".177" = getelementptr float, ptr %"in1", i64 %".176"
  %"in1.at.2" = getelementptr float, ptr %".177", i64 0
  %"in1.value.2" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"in1.at.2", i32 4, <8 x i1> %".172", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".180" = mul nsw i64 %"i0.2", 20
  %".181" = add nsw i64 0, %".180"
  %".182" = mul nsw i64 %"i1.5", 1
  %".183" = add nsw i64 %".181", %".182"
  %".184" = getelementptr float, ptr %"out0", i64 %".183"
  %"out0.at.8" = getelementptr float, ptr %".184", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %"in1.value.2", ptr %"out0.at.8", i32 4, <8 x i1> %".172")
  %"i1.next.5" = add nsw i64 %"i1.5", 8
  br label %"i1.loop.5"
i1.after.5:
  %"i0.next.2" = add nsw i64 %"i0.2", 1
  br label %"i0.loop.2"
i0.loop.3:
  %"i0.3" = phi  i64 [0, %"i0.after.2"], [%"i0.next.3", %"i1.after.7"]
  %".196" = icmp slt i64 %"i0.3", %".189"
  br i1 %".196", label %"i0.body.3", label %"i0.after.3"
i0.body.3:
  %".198" = sub i64 %".194", %".192"
  %".199" = sdiv i64 %".198", 16
  %".200" = mul i64 %".199", 16
  %".201" = add i64 %".192", %".200"
  br label %"i1.loop.6"
i0.after.3:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i1.loop.6:
  %"i1.6" = phi  i64 [%".192", %"i0.body.3"], [%"i1.next.6", %"i1.body.6"]
  %".203" = icmp slt i64 %"i1.6", %".201"
  br i1 %".203", label %"i1.body.6", label %"i1.after.6"
i1.body.6:
  %".205" = mul nsw i64 %"i0.3", 20
  %".206" = add nsw i64 0, %".205"
  %".207" = mul nsw i64 %"i1.6", 1
  %".208" = add nsw i64 %".206", %".207"
  %".209" = getelementptr float, ptr %"out0", i64 %".208"
  %"out0.at.9" = getelementptr float, ptr %".209", i64 0
  store <8 x float> splat (float              0x0), ptr %"out0.at.9", align 4
  %".212" = mul nsw i64 %"i0.3", 20
  %".213" = add nsw i64 0, %".212"
  %".214" = mul nsw i64 %"i1.6", 1
  %".215" = add nsw i64 %".213", %".214"
  %".216" = getelementptr float, ptr %"out0", i64 %".215"
  %"out0.at.10" = getelementptr float, ptr %".216", i64 8
  store <8 x float> splat (float              0x0), ptr %"out0.at.10", align 4
  %"i1.next.6" = add nsw i64 %"i1.6", 16
  br label %"i1.loop.6"
i1.after.6:
  br label %"i1.loop.7"
i1.loop.7:
  %"i1.7" = phi  i64 [%".201", %"i1.after.6"], [%"i1.next.7", %"i1.body.7"]
  %".221" = icmp slt i64 %"i1.7", %".194"
  br i1 %".221", label %"i1.body.7", label %"i1.after.7"
i1.body.7:
  %".223" = sub i64 %".194", %"i1.7"
  %".224" = trunc i64 %".223" to i32
  %".225" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".224", i32 0
  %".226" = shufflevector <8 x i32> %".225", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".227" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".226"
  %".228" = mul nsw i64 %"i0.3", 20
  %".229" = add nsw i64 0, %".228"
  %".230" = mul nsw i64 %"i1.7", 1
  %".231" = add nsw i64 %".229", %".230"
  %".232" = getelementptr float, ptr %"out0", i64 %".231"
  %"out0.at.11" = getelementptr float, ptr %".232", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> splat (float              0x0), ptr %"out0.at.11", i32 4, <8 x i1> %".227")
  %"i1.next.7" = add nsw i64 %"i1.7", 8
  br label %"i1.loop.7"
i1.after.7:
  %"i0.next.3" = add nsw i64 %"i0.3", 1
  br label %"i0.loop.3"
}

declare void @"llvm.masked.store.v8f32.p0"(<8 x float> %".1", ptr %".2", i32 %".3", <8 x i1> %".4")

declare <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %".1", i32 %".2", <8 x i1> %".3", <8 x float> %".4")
