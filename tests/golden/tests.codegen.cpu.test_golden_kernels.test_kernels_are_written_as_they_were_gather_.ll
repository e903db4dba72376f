; for cpu: avx2: gather_2
;   in0 = table: f32[5, 16]
;   in1 = x: i64[3]
;   out0 = y: f32[3, 16]
;   y: f32[i0=3, i1=16] = table[fetch(x[i0], 5), i1]  # gather_2
; loops      y: i0=3 of i0, i1=16 of i1, 2 vectors of 8 along i1
; schedule   tile 3×16
; launch     tiles 1, scratch_bytes 256
; predicted  1.04 µs, 244 B from and to memory
; ModuleID = "gather_987b2b8c2585"
target triple = "unknown-unknown-unknown"
target datalayout = ""

define void @"gather_987b2b8c2585"(ptr %"arguments", i64 %"first", i64 %"end", ptr %"scratch")
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
  %".13" = add i64 0, 3
  %".14" = add i64 0, 16
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
  %".22" = add i64 %"i1", 0
  %".23" = mul i64 %".22", 1
  %".24" = add i64 0, %".23"
  %".25" = add i64 0, %"i0"
  %".26" = mul i64 %".25", 1
  %".27" = add i64 0, %".26"
  %".28" = getelementptr i64, ptr %"in1", i64 %".27"
  %".29" = load i64, ptr %".28", align 8
  %".30" = add i64 %".29", 5
  %".31" = icmp slt i64 %".29", 0
  %".32" = select  i1 %".31", i64 %".30", i64 %".29"
  %".33" = icmp slt i64 %".32", 4
  %".34" = select  i1 %".33", i64 %".32", i64 4
  %".35" = icmp sgt i64 %".34", 0
  %".36" = select  i1 %".35", i64 %".34", i64 0
  %".37" = mul i64 %".36", 16
  %".38" = add i64 %".24", %".37"
  %".39" = getelementptr float, ptr %"in0", i64 %".38"
  %"in0.value" = load <8 x float>, ptr %".39", align 4
  %".41" = mul nsw i64 %"i0", 16
  %".42" = add nsw i64 0, %".41"
  %".43" = mul nsw i64 %"i1", 1
  %".44" = add nsw i64 %".42", %".43"
  %".45" = getelementptr float, ptr %"out0", i64 %".44"
  %"out0.at" = getelementptr float, ptr %".45", i64 0
  store <8 x float> %"in0.value", ptr %"out0.at", align 4
  %".48" = add i64 %"i1", 8
  %".49" = mul i64 %".48", 1
  %".50" = add i64 0, %".49"
  %".51" = add i64 0, %"i0"
  %".52" = mul i64 %".51", 1
  %".53" = add i64 0, %".52"
  %".54" = getelementptr i64, ptr %"in1", i64 %".53"
  %".55" = load i64, ptr %".54", align 8
  %".56" = add i64 %".55", 5
  %".57" = icmp slt i64 %".55", 0
  %".58" = select  i1 %".57", i64 %".56", i64 %".55"
  %".59" = icmp slt i64 %".58", 4
  %".60" = select  i1 %".59", i64 %".58", i64 4
  %".61" = icmp sgt i64 %".60", 0
  %".62" = select  i1 %".61", i64 %".60", i64 0
  %".63" = mul i64 %".62", 16
  %".64" = add i64 %".50", %".63"
  %".65" = getelementptr float, ptr %"in0", i64 %".64"
  %"in0.value.1" = load <8 x float>, ptr %".65", align 4
  %".67" = mul nsw i64 %"i0", 16
  %".68" = add nsw i64 0, %".67"
  %".69" = mul nsw i64 %"i1", 1
  %".70" = add nsw i64 %".68", %".69"
  %".71" = getelementptr float, ptr %"out0", i64 %".70"
  %"out0.at.1" = getelementptr float, ptr %".71", i64 8
  store <8 x float> %"in0.value.1", ptr %"out0.at.1", align 4
  %"i1.next" = add nsw i64 %"i1", 16
  br label %"i1.loop"
i1.after:
  %"i0.next" = add nsw i64 %"i0", 1
  br label %"i0.loop"
}
