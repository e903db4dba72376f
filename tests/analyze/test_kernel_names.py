from __future__ import annotations

import pytest

from burnish.analyze.kernel_names import family, short


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "void at::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(int)>(",
            "vectorized_elementwise_kernel (Gelu)",
        ),
        (
            "void at::elementwise_kernel<128, gpu_kernel_impl<CUDAFunctor_add<int> >(int)>(",
            "elementwise_kernel (add)",
        ),
        ("ampere_fp16_s16816gemm_64x64_nn", "ampere_fp16_s16816gemm_64x64_nn"),
        ("_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi", "vectorized_elementwise_kernel"),
        ("_Z5saxpyif", "saxpy"),
        ("void cutlass::Kernel<cutlass_80_s16816gemm_64x64>(cutlass_80::Params)",
         "cutlass_80_s16816gemm_64x64"),
        ("void (anonymous namespace)::softmax_forward<float, 7>(float*)", "softmax_forward"),
        ("x" * 45 + "y" * 45, "x" * 31 + "…" + "y" * 28),
    ],
)  # fmt: skip
def test_a_kernel_is_called_by_what_it_is_and_what_it_is_made_for(name: str, told: str) -> None:
    assert short(name) == told


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("nvjet_hsh_128x256_64x4_1x2_h_bz_TNT", "product"),
        ("void flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(p)", "attention"),
        ("ncclDevKernel_AllReduce_Sum_f16_RING_LL", "communication"),
        ("triton_poi_fused_add_0", "elementwise"),
        ("void vectorized_layer_norm_kernel<float>(int)", "normalisation"),
        ("Memcpy DtoH", "copy"),
        ("something", "other"),
        ("aten::add_", "elementwise"),
        ("Erf", "elementwise"),
        ("cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "convolution"),
        ("sm50_xmma_pooling_fw_4d", "pooling"),
    ],
)
def test_a_kernels_name_tells_the_kind_of_its_work(name: str, kind: str) -> None:
    assert family(name) == kind
