; for cpu: avx2: add_2, tanh_2
;   in0 = x: f32[4, 20]
;   in1 = z: f32[20]
;   out0 = y: f32[4, 20]
;   y: f32[i0=4, i1=20] = tanh(x[i0, i1] + z[i1])  # add_2, tanh_2
; loops      y: i0=4 of i0, i1=20 of i1, 2 vectors of 8 along i1
; schedule   tile 4×20
; launch     tiles 1, scratch_bytes 256
; predicted  1.08 µs, 360 B from and to memory
; ModuleID = "add_tanh_98c7c1c87a8a"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"add_tanh_98c7c1c87a8a"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
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
  %"tile" = phi  i64 [%"first", %"tiles"], [%"tile.next", %"i0.after"]
  %".11" = icmp slt i64 %"tile", %"end"
  br i1 %".11", label %"tile.body", label %"tile.after"
tile.body:
  %".13" = add i64 0, 4
  %".14" = add i64 0, 20
  br label %"i0.loop"
tile.after:
  ret void
i0.loop:
  %"i0" = phi  i64 [0, %"tile.body"], [%"i0.next", %"i1.after"]
  %".16" = icmp slt i64 %"i0", %".13"
  br i1 %".16", label %"i0.body", label %"i0.after"
i0.body:
  %".18" = add i64 0, 16
  br label %"i1.loop"
i0.after:
  %"tile.next" = add nsw i64 %"tile", 1
  br label %"tile.loop"
i1.loop:
  %"i1" = phi  i64 [0, %"i0.body"], [%"i1.next", %"i1.body"]
  %".20" = icmp slt i64 %"i1", %".18"
  br i1 %".20", label %"i1.body", label %"i1.after"
i1.body:
  %".22" = mul nsw i64 %"i0", 20
  %".23" = add nsw i64 0, %".22"
  %".24" = mul nsw i64 %"i1", 1
  %".25" = add nsw i64 %".23", %".24"
  %".26" = getelementptr float, ptr %"in0", i64 %".25"
  %"in0.at" = getelementptr float, ptr %".26", i64 0
  %"in0.value" = load <8 x float>, ptr %"in0.at", align 4
  %".29" = mul nsw i64 %"i1", 1
  %".30" = add nsw i64 0, %".29"
  %".31" = getelementptr float, ptr %"in1", i64 %".30"
  %"in1.at" = getelementptr float, ptr %".31", i64 0
  %"in1.value" = load <8 x float>, ptr %"in1.at", align 4
  %"add" = fadd contract <8 x float> %"in0.value", %"in1.value"
  %"tanh" = call <8 x float> @"burnish.tanh.f32.8"(<8 x float> %"add")
  %".36" = mul nsw i64 %"i0", 20
  %".37" = add nsw i64 0, %".36"
  %".38" = mul nsw i64 %"i1", 1
  %".39" = add nsw i64 %".37", %".38"
  %".40" = getelementptr float, ptr %"out0", i64 %".39"
  %"out0.at" = getelementptr float, ptr %".40", i64 0
  store <8 x float> %"tanh", ptr %"out0.at", align 4
  %"in0.at.1" = getelementptr float, ptr %".26", i64 8
  %"in0.value.1" = load <8 x float>, ptr %"in0.at.1", align 4
  %"in1.at.1" = getelementptr float, ptr %".31", i64 8
  %"in1.value.1" = load <8 x float>, ptr %"in1.at.1", align 4
  %"add.1" = fadd contract <8 x float> %"in0.value.1", %"in1.value.1"
  %"tanh.1" = call <8 x float> @"burnish.tanh.f32.8"(<8 x float> %"add.1")
  %".49" = mul nsw i64 %"i0", 20
  %".50" = add nsw i64 0, %".49"
  %".51" = mul nsw i64 %"i1", 1
  %".52" = add nsw i64 %".50", %".51"
  %".53" = getelementptr float, ptr %"out0", i64 %".52"
  %"out0.at.1" = getelementptr float, ptr %".53", i64 8
  store <8 x float> %"tanh.1", ptr %"out0.at.1", align 4
  %"i1.next" = add nsw i64 %"i1", 16
  br label %"i1.loop"
i1.after:
  %".57" = add i64 0, 16
  %".58" = sub i64 %".14", %".57"
  %".59" = trunc i64 %".58" to i32
  %".60" = insertelement <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".59", i32 0
  %".61" = shufflevector <8 x i32> %".60", <8 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".62" = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %".61"
  %".63" = mul nsw i64 %"i0", 20
  %".64" = add nsw i64 0, %".63"
  %".65" = mul nsw i64 %".57", 1
  %".66" = add nsw i64 %".64", %".65"
  %".67" = getelementptr float, ptr %"in0", i64 %".66"
  %"in0.at.2" = getelementptr float, ptr %".67", i64 0
  %"in0.value.2" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"in0.at.2", i32 4, <8 x i1> %".62", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %".70" = mul nsw i64 %".57", 1
  %".71" = add nsw i64 0, %".70"
  %".72" = getelementptr float, ptr %"in1", i64 %".71"
  %"in1.at.2" = getelementptr float, ptr %".72", i64 0
  %"in1.value.2" = call <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %"in1.at.2", i32 4, <8 x i1> %".62", <8 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>)
  %"add.2" = fadd contract <8 x float> %"in0.value.2", %"in1.value.2"
  %"tanh.2" = call <8 x float> @"burnish.tanh.f32.8"(<8 x float> %"add.2")
  %".77" = mul nsw i64 %"i0", 20
  %".78" = add nsw i64 0, %".77"
  %".79" = mul nsw i64 %".57", 1
  %".80" = add nsw i64 %".78", %".79"
  %".81" = getelementptr float, ptr %"out0", i64 %".80"
  %"out0.at.2" = getelementptr float, ptr %".81", i64 0
  call void @"llvm.masked.store.v8f32.p0"(<8 x float> %"tanh.2", ptr %"out0.at.2", i32 4, <8 x i1> %".62")
  %"i0.next" = add nsw i64 %"i0", 1
  br label %"i0.loop"
}

declare <8 x float> @"burnish.tanh.f32.8"(<8 x float> %".1")

declare <8 x float> @"llvm.masked.load.v8f32.p0"(ptr %".1", i32 %".2", <8 x i1> %".3", <8 x float> %".4")

declare void @"llvm.masked.store.v8f32.p0"(<8 x float> %".1", ptr %".2", i32 %".3", <8 x i1> %".4")
